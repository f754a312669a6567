"""The input and the result of a guard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.sold_out import sold_out
from shelfsync.rows.alignment import aligned, any_of, column, differs
from shelfsync.schemas import BASELINE, DELTA, FIELDS, completed

if TYPE_CHECKING:
    from shelfsync.catalog.sales_buffers import AtBuffer
    from shelfsync.settings import GuardSettings

PRICE_FIELDS = ("price",)
STOCK_FIELDS = ("quantity", "active")
"""The platform derives one from the other, so they are held together."""


@dataclass(frozen=True)
class History:
    """The vendor's earlier extracts. An extract with an open hold does not count."""

    rows: tuple[int, ...] = ()
    """Rows of the last extracts, newest first."""
    repeats: str | None = None
    """When the same snapshot was read before, if another one came between; as text for a person."""
    categories: pa.Table | None = None
    """sku and last known category of every SKU of baseline or snapshot; sorted by sku."""
    undone: frozenset[str] = frozenset()
    """SKUs with changes that a person approved since the repeated snapshot; they may revert to it."""
    columns: tuple[str, ...] = ()
    """How the ERP's columns differ from those of the last extract, each as a sentence; empty: they do not, or it holds nothing."""
    first: bool = False
    """The vendor's range was never acknowledged; at most single SKUs of an urgent run, or a part of a first sync."""


@dataclass(frozen=True)
class Case:
    """One delta with everything that the guards compare it with."""

    vendor: str
    delta: pa.Table
    snapshot: pa.Table
    baseline: pa.Table
    extract_rows: int
    """Rows of the extract, those in quarantine too."""
    limits: GuardSettings
    history: History = field(default_factory=History)
    free: dict[str, pa.Array] = field(default_factory=dict)
    """Field -> mask of the rows whose field no earlier guard holds; empty: all are free."""
    unwanted: pa.Array | None = None
    """Mask of the new products that a person declined; None: there are none."""
    at_buffer: AtBuffer = "activates"
    known: pa.Table | None = None
    """The baseline's SKUs with the values that the guards compare with, where they are others than the baseline's; None: it itself."""
    passing: dict[str, pa.Array] = field(default_factory=dict)
    """Field -> mask of the rows whose value passes every rule; empty: every value is judged."""

    @cached_property
    def skus(self) -> pa.Array:
        return column(self.delta, "sku")

    @cached_property
    def reference(self) -> pa.Table:
        """The last known values, in the rows of the baseline: an unknown value is no reason to accept any other."""
        return completed(self.baseline if self.known is None else self.known, BASELINE)

    @cached_property
    def before(self) -> dict[str, pa.Array]:
        """The last known values of the delta's SKUs; null if there are none."""
        return aligned(self.reference, self.skus, ("sku", *FIELDS, "sales_buffer"))

    @cached_property
    def buffer(self) -> pa.Array:
        """The sales buffer that the delta's quantities will be compared with, as far as it is known."""
        return column(completed(self.delta, DELTA), "sales_buffer")

    @cached_property
    def selling_out(self) -> pa.Array:
        """Rows in stock whose quantity becomes too little to be sold."""
        now = sold_out(column(self.delta, "quantity"), self.buffer, self.at_buffer)
        return pc.and_(now, pc.and_(pc.invert(self.was_sold_out), self.before["quantity"].is_valid()))

    @cached_property
    def was_sold_out(self) -> pa.Array:
        """Rows whose quantity was too little to be sold; a buffer that is known only now applies to the past, too."""
        buffer = pc.coalesce(self.before["sales_buffer"], self.buffer)
        return sold_out(self.before["quantity"], buffer, self.at_buffer)

    @cached_property
    def sold_out_before(self) -> pa.Array:
        """Rows of the baseline whose known quantity is too little to be sold."""
        return sold_out(column(self.reference, "quantity"), column(self.reference, "sales_buffer"), self.at_buffer)

    @cached_property
    def removed(self) -> pa.Array:
        return pc.equal(column(self.delta, "change"), "removed")

    @cached_property
    def moving(self) -> pa.Array:
        """Rows with a value other than the last known one: an unconfirmed value that is sent again changes nothing."""
        return any_of(differs(column(self.delta, name), self.before[name]) for name in FIELDS)

    @cached_property
    def going_off(self) -> pa.Array:
        """Rows that are switched off, and were not known to be off: removed or inactive."""
        off = pc.equal(column(self.delta, "active"), False).fill_null(False)
        was_off = pc.equal(self.before["active"], False).fill_null(False)
        return pc.and_(pc.and_(off, pc.invert(was_off)), self.before["sku"].is_valid())

    @cached_property
    def price_ratio(self) -> pa.Array:
        """New price by old price as a float, for comparing only; null where either is missing or zero."""
        new = pc.cast(column(self.delta, "price"), pa.float64())
        old = pc.cast(self.before["price"], pa.float64())
        usable = pc.and_(pc.greater(new, 0), pc.greater(old, 0))
        return pc.if_else(usable, pc.divide(new, pc.if_else(usable, old, 1.0)), pa.scalar(None, pa.float64()))

    @cached_property
    def all_known(self) -> pa.Array:
        """All rows of the baseline."""
        return pa.repeat(pa.scalar(True), self.baseline.num_rows)

    @cached_property
    def on_sale(self) -> pa.Array:
        """Rows of the baseline that are not known to be off."""
        return column(self.reference, "active").fill_null(True)

    @cached_property
    def priced(self) -> pa.Array:
        """Rows of the baseline that have a price and are in the extract; SKUs that left the range do not count in today's prices."""
        here = pc.is_in(column(self.baseline, "sku"), value_set=column(self.snapshot, "sku"))
        return pc.and_(column(self.reference, "price").is_valid(), here)

    def category_of(self, skus: pa.Array) -> pa.Array:
        """The last known category of each SKU; null if it never had one."""
        if self.history.categories is None or self.history.categories.num_rows == 0:
            return pa.nulls(len(skus), pa.string())
        return aligned(self.history.categories, skus, ["category"])["category"]

    @cached_property
    def category(self) -> pa.Array:
        """The category of the delta's rows."""
        return self.category_of(self.skus)

    @cached_property
    def category_before(self) -> pa.Array:
        """The category of the baseline's rows."""
        return self.category_of(column(self.baseline, "sku"))

    def new_again(self, decided: dict[str, pa.Array]) -> pa.Array:
        """A mask of the rows of products that are new now and were new when a person decided about them."""
        new = pc.equal(column(self.delta, "change"), "new")
        return pc.and_(new, pc.equal(decided["change"], "new").fill_null(False))

    def undecided(self, rows: pa.Array, fields: tuple[str, ...]) -> pa.Array:
        """Those of the rows that have a field which no earlier guard holds and no person approved."""
        if not self.free:
            return rows
        return pc.and_(rows, any_of(self.free[name] for name in fields))


@dataclass(frozen=True)
class Finding:
    """What one guard holds. `rows` is a mask over the delta without nulls; `fields` are the held fields of these rows."""

    rows: pa.Array
    reason: str
    message: str
    thresholds: dict[str, Any]
    category: str | None = None
    fields: tuple[str, ...] = FIELDS


Findings = Iterator[Finding]
"""What a guard makes of a case."""


def count(rows: pa.Array) -> int:
    """How many of a mask."""
    return pc.sum(rows).as_py() or 0
