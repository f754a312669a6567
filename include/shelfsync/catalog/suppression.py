"""No-op suppression: a quantity that changes nothing for a customer is not sent.

The platform keeps no quantity. It compares each one with a sales buffer: below the buffer the product goes off, at or above it on, unless
`active` is false (interface.md 2.1). A quantity on the same side of the buffer as the last one sent changes nothing, so it is suppressed.
The baseline keeps the quantity that was sent, so the next one is compared with that. A full sync sends every quantity.

Properties: the suppressed rows and the remaining delta are together the delta. The platform shows the same with and without the suppressed
quantities, as long as the buffers are known correctly. If a value or a buffer is unknown, nothing is suppressed. The buffer of a SKU comes
from the ERP, or from rules by SKU, category and vendor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.co_sent_fields import with_active_if_single
from shelfsync.rows.alignment import aligned, any_of, column, padded, with_column
from shelfsync.schemas import BASELINE, DELTA, FIELDS, SNAPSHOT, completed

if TYPE_CHECKING:
    from collections.abc import Iterable


KNOWN_BUFFERS = pa.schema([pa.field("sku", pa.string(), nullable=False), pa.field("sales_buffer", pa.int64())])
"""SKUs with their sales buffer in pieces, null if it is unknown; in the order of the snapshot."""

AtBuffer = Literal["activates", "deactivates"]
"""What a quantity equal to the buffer does."""


def too_little(quantity: pa.Array, buffer: pa.Array, at_buffer: AtBuffer) -> pa.Array:
    """A mask of the rows whose quantity switches them off by their buffer; null where one of the two is unknown."""
    below = pc.less if at_buffer == "activates" else pc.less_equal
    return below(quantity, buffer)


def sold_out(quantity: pa.Array, buffer: pa.Array, at_buffer: AtBuffer) -> pa.Array:
    """A mask without nulls of the rows that customers cannot buy: no stock, or too little for a known buffer."""
    nothing = pc.less_equal(quantity, 0).fill_null(False)
    return pc.or_(nothing, too_little(quantity, buffer, at_buffer).fill_null(False))


@dataclass(frozen=True)
class Buffers:
    """The sales buffers that are known now. `known`: sku and sales_buffer (pieces), unique by sku.

    `at_buffer`: what a quantity equal to the buffer does; the sources disagree (field notes).
    """

    known: pa.Table
    at_buffer: AtBuffer = "activates"

    @property
    def unknown(self) -> bool:
        """True when nothing is known of any SKU."""
        return bool(self.known["sales_buffer"].null_count == self.known.num_rows)

    def of(self, skus: pa.Array) -> pa.Array:
        """The buffer of each, null where it is not known."""
        return aligned(self.known, skus, ["sales_buffer"])["sales_buffer"]

    def switches_on(self, quantity: pa.Array, buffer: pa.Array) -> pa.Array:
        """Whether a quantity is enough for a buffer; null where one of them is unknown."""
        return pc.invert(too_little(quantity, buffer, self.at_buffer))


@dataclass(frozen=True)
class Rule:
    """A buffer in pieces for all SKUs that match; None matches any. The most specific rule wins: SKU, then category, then vendor."""

    sales_buffer: int
    vendor: str | None = None
    category: str | None = None
    sku: str | None = None

    @property
    def rank(self) -> tuple[bool, bool, bool]:
        """Greater is more specific."""
        return (self.sku is not None, self.category is not None, self.vendor is not None)


def known_buffers(snapshot: pa.Table, vendor: str, rules: Iterable[Rule]) -> pa.Table:
    """The buffers of a snapshot's SKUs (KNOWN schema): the ERP's own value, else the most specific rule; of equal rules the last."""
    snapshot = completed(snapshot, SNAPSHOT)
    skus, categories = column(snapshot, "sku"), column(snapshot, "category")
    found = column(snapshot, "sales_buffer")
    fitting = [rule for rule in rules if rule.vendor in {None, vendor}]
    for rank in sorted({rule.rank for rule in fitting}, reverse=True):
        level = [rule for rule in fitting if rule.rank == rank]
        found = pc.coalesce(found, _by_level(level, skus, categories))
    return pa.Table.from_arrays([skus, found], schema=KNOWN_BUFFERS)


def _by_level(level: list[Rule], skus: pa.Array, categories: pa.Array) -> pa.Array:
    """The buffer of each SKU by rules of one rank; many rules cost no more than a look-up."""
    by_sku, by_category, _ = level[0].rank
    if not by_sku and not by_category:
        return pa.repeat(pa.scalar(level[-1].sales_buffer, pa.int64()), len(skus))
    if by_sku and by_category:
        return _looked_up({(rule.sku, rule.category): rule.sales_buffer for rule in level}, skus, categories)
    keys = {rule.sku if by_sku else rule.category: rule.sales_buffer for rule in level}
    places = pc.index_in(skus if by_sku else categories, value_set=pa.array(list(keys), pa.string()), skip_nulls=True)
    return pa.array(list(keys.values()), pa.int64()).take(places)


def _looked_up(rules: dict[tuple[str | None, str | None], int], skus: pa.Array, categories: pa.Array) -> pa.Array:
    pairs = zip(skus.to_pylist(), categories.to_pylist(), strict=True)
    return pa.array([rules.get(pair) for pair in pairs], pa.int64())


@dataclass(frozen=True)
class Suppressed:
    """`delta` (DELTA schema) has to be sent; `suppressed` (DELTA schema, quantity alone) has the quantities that are not sent."""

    delta: pa.Table
    suppressed: pa.Table


def suppress_no_ops(
    delta: pa.Table, baseline: pa.Table, snapshot: pa.Table, buffers: Buffers, *, rejected: pa.Table | None = None
) -> Suppressed:
    """Removes the no-op quantities from a delta between full syncs, and adds quantities that cross a buffer because the buffer moved.

    `rejected`: SKUs (column sku) whose quantity is not sent again for the sole reason that the buffer moved.
    """
    if buffers.unknown:
        return Suppressed(delta, delta.slice(0, 0))
    baseline = completed(baseline, BASELINE)
    no_op = _no_ops(delta, baseline, buffers)
    nothing = pa.scalar(None, pa.int64())
    quantity = column(delta, "quantity")
    suppressed = _of_quantities(delta, buffers).filter(no_op)
    left = with_column(delta, "quantity", pc.if_else(no_op, nothing, quantity))
    left = with_column(left, "active", pc.if_else(no_op, pa.scalar(None, pa.bool_()), column(delta, "active")))
    left = left.filter(any_of(column(left, name).is_valid() for name in FIELDS))
    left = _crossed_by_the_buffer(left, baseline, snapshot, buffers, rejected)
    if left.num_rows == 1 and left["quantity"].null_count == 0 and suppressed.num_rows:
        left, suppressed = _with_second_item(left, suppressed, baseline)
    return Suppressed(with_active_if_single(with_buffers(left, buffers), baseline), suppressed)


def with_buffers(delta: pa.Table, buffers: Buffers) -> pa.Table:
    """The delta with the sales buffer beside each quantity; the buffer is acknowledged together with the quantity."""
    has_quantity = column(delta, "quantity").is_valid()
    now = buffers.of(column(delta, "sku"))
    return with_column(delta, "sales_buffer", pc.if_else(has_quantity, now, pa.scalar(None, pa.int64())))


def _no_ops(delta: pa.Table, baseline: pa.Table, buffers: Buffers) -> pa.Array:
    """A mask without nulls of the rows whose quantity changes nothing: same side of the buffer, or off before and after.

    The quantity sent before is compared with the buffer of that time: the platform compared once and forgot the quantity.
    """
    skus = column(delta, "sku")
    before = aligned(baseline, skus, ["barcode", "quantity", "active", "sales_buffer"])
    flag = column(delta, "active")
    was = buffers.switches_on(before["quantity"], before["sales_buffer"])
    shall = buffers.switches_on(column(delta, "quantity"), buffers.of(skus))
    off = pc.equal(before["active"], False).fill_null(False)
    no_side = pc.and_(was.is_valid(), shall.is_valid())
    same = pc.or_(pc.equal(was, shall).fill_null(False), pc.and_(off, no_side))
    flag_changes = pc.and_(flag.is_valid(), pc.not_equal(flag, before["active"]).fill_null(True))
    new_barcode = pc.not_equal(padded(column(delta, "barcode")), padded(before["barcode"])).fill_null(False)
    sent_before = pc.and_(before["quantity"].is_valid(), pc.equal(column(delta, "change"), "changed"))
    no_op = pc.and_(pc.and_(same, sent_before), pc.invert(pc.or_(flag_changes, new_barcode)))
    return pc.and_(no_op, column(delta, "quantity").is_valid())


def _crossed_by_the_buffer(
    delta: pa.Table, baseline: pa.Table, snapshot: pa.Table, buffers: Buffers, rejected: pa.Table | None
) -> pa.Table:
    """The delta with the unchanged quantities that are on the other side of the buffer now, because the buffer moved."""
    skus, quantity = column(snapshot, "sku"), column(snapshot, "quantity")
    before = aligned(baseline, skus, ["quantity", "active", "sales_buffer"])
    was = buffers.switches_on(before["quantity"], before["sales_buffer"])
    shall = buffers.switches_on(quantity, buffers.of(skus))
    moved = pc.and_(pc.not_equal(was, shall), pc.equal(quantity, before["quantity"])).fill_null(False)
    on = pc.coalesce(column(snapshot, "active"), before["active"]).fill_null(True)
    moved = pc.and_(moved, on)
    already = aligned(delta, skus, ["quantity"])["quantity"].is_valid()
    moved = pc.and_(moved, pc.invert(already))
    if rejected is not None and rejected.num_rows:
        moved = pc.and_(moved, pc.invert(pc.is_in(skus, value_set=column(rejected, "sku").cast(pa.string()))))
    if not pc.any(moved).as_py():
        return delta
    rows = snapshot.filter(moved)
    there = pc.is_in(column(delta, "sku"), value_set=column(rows, "sku"))
    again = aligned(rows, column(delta, "sku"), ["quantity"])["quantity"]
    delta = with_column(delta, "quantity", pc.if_else(there, again, column(delta, "quantity")))
    new = rows.filter(pc.invert(pc.is_in(column(rows, "sku"), value_set=column(delta, "sku"))))
    count = new.num_rows
    added = {name: column(new, name) for name in ("sku", "barcode", "quantity")}
    added["change"] = pa.repeat(pa.scalar("changed"), count)
    columns = [added.get(field.name, pa.nulls(count, field.type)) for field in DELTA]
    whole = pa.concat_tables([delta, pa.Table.from_arrays(columns, schema=DELTA)])
    return whole.take(pc.array_sort_indices(column(whole, "sku")))


def _with_second_item(delta: pa.Table, suppressed: pa.Table, baseline: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The delta with the first suppressed quantity as a second item: in a request of one item a quantity may switch nothing off."""
    first = suppressed.slice(0, 1)
    before = aligned(baseline, column(first, "sku"), ["active"])["active"]
    off = pc.if_else(pc.equal(before, False).fill_null(False), before, pa.scalar(None, pa.bool_()))
    both = pa.concat_tables([delta, with_column(first, "active", off)])
    return both.take(pc.array_sort_indices(column(both, "sku"))), suppressed.slice(1)


def _of_quantities(delta: pa.Table, buffers: Buffers) -> pa.Table:
    """The delta with no field but the quantity."""
    columns = {name: column(delta, name) for name in ("sku", "barcode", "quantity", "change")}
    columns["sales_buffer"] = buffers.of(columns["sku"])
    nothing = {field.name: pa.nulls(delta.num_rows, field.type) for field in DELTA}
    return pa.Table.from_arrays([(nothing | columns)[name] for name in DELTA.names], schema=DELTA)
