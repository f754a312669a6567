"""No-op suppression: a quantity that changes nothing for a customer is not sent.

The platform keeps no quantity. It compares each one with a sales buffer: below the buffer the product goes off, at or above it on, unless
`active` is false (interface.md 2.1). A quantity on the same side of the buffer as the last one sent changes nothing, so it is suppressed.
The baseline keeps the quantity that was sent, so the next one is compared with that. A full sync sends every quantity.

Properties: the suppressed rows and the remaining delta are together the delta. The platform shows the same with and without the suppressed
quantities, as long as the buffers are known correctly. If a value or a buffer is unknown, nothing is suppressed. Which buffer a SKU has is in
`sales_buffers`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.co_sent_fields import with_active_if_single
from shelfsync.rows.alignment import aligned, any_of, column, padded, with_column
from shelfsync.schemas import BASELINE, DELTA, FIELDS, completed

if TYPE_CHECKING:
    from shelfsync.catalog.sales_buffers import Buffers


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
    """A mask without nulls of the rows whose quantity is on the same side of the buffer as the last one sent.

    The quantity sent before is compared with the buffer of that time: the platform compared once and forgot the quantity. A product that is
    off counts like the others: the ERP may switch it on later without a quantity, and then the last one sent goes with `active`.
    """
    skus = column(delta, "sku")
    before = aligned(baseline, skus, ["barcode", "quantity", "active", "sales_buffer"])
    flag = column(delta, "active")
    was = buffers.switches_on(before["quantity"], before["sales_buffer"])
    shall = buffers.switches_on(column(delta, "quantity"), buffers.of(skus))
    same = pc.equal(was, shall).fill_null(False)
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
