"""What a guard is shown, and what it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.buffer import sold_out
from shelfsync.catalog.unrestored import beneath
from shelfsync.columns import BASELINE, DELTA, FIELDS, completed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.catalog.buffer import AtBuffer
    from shelfsync.settings import GuardSettings

PRICE_FIELDS = ("price",)
STOCK_FIELDS = ("quantity", "active")
"""They travel together where one changes the meaning of the other, so they are held together."""

_HANDFUL = 5
_OF_ANY_SIZE = frozenset({"new_skus", "shrunken_extract"})
"""A small store may well double, and that many rows are missing says less of it than what is missing."""


@dataclass(frozen=True)
class History:
    """What earlier extracts of the vendor were like. Extracts that a person has not yet decided about do not count."""

    rows: tuple[int, ...] = ()
    """Rows of the last extracts, newest first."""
    repeats: str | None = None
    """When the very same snapshot was read before, if another one came between; in words."""
    categories: pa.Table | None = None
    """sku, category as last said, of every SKU that is in baseline or snapshot; sorted by sku."""
    undone: frozenset[str] = frozenset()
    """SKUs of which a person let something through since the snapshot that is repeated, and that may go back to it."""
    first: bool = False
    """The vendor's range was never acknowledged yet; at most single SKUs that somebody named, or a part of a first sync."""


@dataclass(frozen=True)
class Case:
    """One delta with all that it can be judged by."""

    vendor: str
    delta: pa.Table
    snapshot: pa.Table
    baseline: pa.Table
    extract_rows: int
    """Rows of the extract, those in quarantine too."""
    limits: GuardSettings
    history: History = field(default_factory=History)
    free: dict[str, pa.Array] = field(default_factory=dict)
    """Field -> mask of the rows of which that field is still held by no guard before; empty: all are free."""
    unwanted: pa.Array | None = None
    """Mask of the new products that a person did not let in; None: there are none."""
    at_buffer: AtBuffer = "activates"
    known: pa.Table | None = None
    """The baseline's SKUs with the last known value where the baseline says that nobody knows it; None: the baseline itself."""
    unrestored: pa.Table | None = None
    """What the baseline would be without restorations (UNRESTORED shape); None: no restoration makes a difference."""

    @cached_property
    def skus(self) -> pa.Array:
        return column(self.delta, "sku")

    @cached_property
    def reference(self) -> pa.Table:
        """What the delta is judged by, in the rows of the baseline: an unknown value is no reason to believe any other.

        What a restoration changed counts as it would be without it.
        """
        return beneath(completed(self.baseline if self.known is None else self.known, BASELINE), self.unrestored)

    @cached_property
    def before(self) -> dict[str, pa.Array]:
        """What was last known of the delta's SKUs; null where nothing ever was."""
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
        """Rows whose quantity was too little to be sold; a buffer that is known only now held before, too."""
        buffer = pc.coalesce(self.before["sales_buffer"], self.buffer)
        return sold_out(self.before["quantity"], buffer, self.at_buffer)

    @cached_property
    def sold_out_before(self) -> pa.Array:
        """Rows of the baseline whose quantity is too little to be sold; what has none that is known is not among them."""
        return sold_out(column(self.reference, "quantity"), column(self.reference, "sales_buffer"), self.at_buffer)

    @cached_property
    def removed(self) -> pa.Array:
        return pc.equal(column(self.delta, "change"), "removed")

    @cached_property
    def moving(self) -> pa.Array:
        """Rows with a value that is not the one last known: to say again what nobody confirmed moves nothing."""
        some = pa.repeat(pa.scalar(False), self.delta.num_rows)
        for name in FIELDS:
            now = column(self.delta, name)
            some = pc.or_(some, pc.and_(now.is_valid(), pc.not_equal(now, self.before[name]).fill_null(True)))
        return some

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
    def on_sale(self) -> pa.Array:
        """Rows of the baseline that are not known to be off."""
        return column(self.reference, "active").fill_null(True)

    @cached_property
    def priced(self) -> pa.Array:
        """Rows of the baseline that have a price and are in the extract; what left the range years ago says nothing of today's prices."""
        here = pc.is_in(column(self.baseline, "sku"), value_set=column(self.snapshot, "sku"))
        return pc.and_(column(self.reference, "price").is_valid(), here)

    def category_of(self, skus: pa.Array) -> pa.Array:
        """The category of each SKU as last said; null where nobody ever said one."""
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

    def undecided(self, rows: pa.Array, fields: tuple[str, ...]) -> pa.Array:
        """Of these rows those with a field left that no guard before holds and nobody approved."""
        if not self.free:
            return rows
        some = self.free[fields[0]]
        for name in fields[1:]:
            some = pc.or_(some, self.free[name])
        return pc.and_(rows, some)


@dataclass(frozen=True)
class Finding:
    """What one guard holds. `rows` is a mask over the delta without nulls; `fields` are what of these rows is held."""

    rows: pa.Array
    reason: str
    message: str
    thresholds: dict[str, Any]
    category: str | None = None
    fields: tuple[str, ...] = FIELDS


def judged(
    case: Case, rule: str, rows: pa.Array, of: pa.Array, what: str, fields: tuple[str, ...] = FIELDS
) -> Iterator[Finding]:
    """Holds `rows` (mask over the delta) when they are more than the limit of `of` (mask over the baseline) allows.

    Categories with thresholds of their own are judged by themselves first. `what` is told with the numbers in front.
    """
    rows = case.undecided(rows, fields)
    left, left_of = rows, of
    for category in case.limits.categories(rule, case.vendor):
        here = pc.equal(case.category, category).fill_null(False)
        there = pc.equal(case.category_before, category).fill_null(False)
        mine = pc.and_(rows, here)
        yield from _tripped(case, rule, mine, pc.and_(of, there), what, fields, category)
        left, left_of = pc.and_(left, pc.invert(here)), pc.and_(left_of, pc.invert(there))
    yield from _tripped(case, rule, left, left_of, what, fields, None)


def count(rows: pa.Array) -> int:
    """How many of a mask."""
    return pc.sum(rows).as_py() or 0


def always(rule: str, limit: Any, of: int) -> int:
    """How many rows always flow: of a small store no more than half of what there is, or a handful."""
    return int(limit.rows if rule in _OF_ANY_SIZE or of == 0 else min(limit.rows, max(_HANDFUL, of // 2)))


def over(rule: str, limit: Any, number: int, of: int) -> bool:
    """More rows than always flow, and a greater share than may."""
    return bool(limit.on and number > always(rule, limit, of) and number > Fraction(str(limit.share)) * of)


def _tripped(
    case: Case, rule: str, rows: pa.Array, of: pa.Array, what: str, fields: tuple[str, ...], category: str | None
) -> Iterator[Finding]:
    limit = case.limits.limit(rule, case.vendor, category)
    number, everything = count(rows), count(of)
    if not over(rule, limit, number, everything):
        return
    where = "" if category is None else f" of category {category}"
    flowing = always(rule, limit, everything)
    free = f"up to {flowing} and up to a share of {limit.share:g}" if limit.rows or limit.share else "none"
    half = "" if flowing == limit.rows else "; ROWS is at most half of them, or a handful"
    message = (
        f"{number} of {everything} SKUs{where} {what}; the rule {rule} lets {free} through by itself"
        f" (SHELFSYNC_GUARDS__{rule.upper()}__ROWS and __SHARE{half})"
    )
    yield Finding(rows, rule, message, limit.model_dump(), category, fields)
