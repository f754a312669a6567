"""effect: what a quantity does, and which ones need not be sent because they do nothing.

The platform keeps no quantity: it compares each one with a sales buffer, below it the product goes off, at or above it on, unless
`active` false says off (interface.md 2.1). A quantity on the same side as the one the platform was told last changes nothing.
It is *spared*: the baseline keeps what was told, so the next one is again compared with that, and a full sync says it.

Laws: spared rows and the delta that is left say together what the delta said; what the platform shows is the same with and without
the spared ones, as long as the buffers are what they are said to be; where anything is unknown, nothing is spared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog import companion
from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.barcode import padded
from shelfsync.columns import BASELINE, DELTA, FIELDS, completed

if TYPE_CHECKING:
    from typing import Literal

INTERVAL = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("off_max", pa.int64()),  # at or below it a quantity was seen to switch off; null: never seen
        pa.field("on_min", pa.int64()),  # at or above it a quantity was seen to switch on; null: never seen
    ]
)
"""What is known of where the buffer of each SKU lies: unique by sku, sorted. Between the two nobody knows."""


@dataclass(frozen=True)
class Spared:
    """`delta` is what has to be said (DELTA shape); `spared` are the quantities that are not (DELTA shape, quantity alone)."""

    delta: pa.Table
    spared: pa.Table


@dataclass(frozen=True)
class Buffers:
    """What is known about buffers now. `known`: sku and sales_buffer, unique by sku; `learned`: INTERVAL shape.

    `at_buffer`: what a quantity equal to the buffer does; the sources disagree (field notes).
    """

    known: pa.Table
    learned: pa.Table
    at_buffer: Literal["activates", "deactivates"] = "activates"

    @property
    def unknown(self) -> bool:
        """True when nothing is known of any SKU."""
        return self.known["sales_buffer"].null_count == self.known.num_rows and not self.learned.num_rows

    def of(self, skus: pa.Array) -> pa.Array:
        """The buffer of each, null where it is not known."""
        return aligned(self.known, skus, ["sales_buffer"])["sales_buffer"]

    def switches_on(self, quantity: pa.Array, buffer: pa.Array) -> pa.Array:
        """Whether a quantity is enough for a buffer; null where one of them is unknown."""
        compare = pc.greater_equal if self.at_buffer == "activates" else pc.greater
        return compare(quantity, buffer)

    def seen_to_switch_on(self, quantity: pa.Array, skus: pa.Array) -> pa.Array:
        """The same by what was learned; null between what was seen."""
        seen = aligned(self.learned, skus, ["off_max", "on_min"])
        on = pc.greater_equal(quantity, seen["on_min"]).fill_null(False)
        off = pc.less_equal(quantity, seen["off_max"]).fill_null(False)
        return pc.if_else(on, True, pc.if_else(off, False, pa.scalar(None, pa.bool_())))


def spare(
    delta: pa.Table, baseline: pa.Table, snapshot: pa.Table, buffers: Buffers, *, refused: pa.Table | None = None
) -> Spared:
    """Takes the quantities without effect out of a delta between full syncs, and puts in those that a moved buffer gave one.

    `refused`: SKUs (column sku) whose quantity is not said again only because the buffer moved.
    """
    if buffers.unknown:
        return Spared(delta, delta.slice(0, 0))
    baseline = completed(baseline, BASELINE)
    idle = _without_effect(delta, baseline, buffers)
    nothing = pa.scalar(None, pa.int64())
    quantity = column(delta, "quantity")
    spared = _of_quantities(delta, buffers).filter(idle)
    left = _with(delta, "quantity", pc.if_else(idle, nothing, quantity))
    companions = pc.if_else(idle, pa.scalar(None, pa.bool_()), column(delta, "active"))
    left = _with(left, "active", companions)
    left = left.filter(_says_something(left))
    left = _crossed_by_the_buffer(left, baseline, snapshot, buffers, refused)
    if left.num_rows == 1 and left["quantity"].null_count == 0 and spared.num_rows:
        left, spared = _in_company(left, spared, baseline)
    return Spared(companion.alone(stamped(left, buffers), baseline), spared)


def stamped(delta: pa.Table, buffers: Buffers) -> pa.Table:
    """The delta with the buffer beside each quantity: what it is told against is acknowledged with it."""
    said = column(delta, "quantity").is_valid()
    now = buffers.of(column(delta, "sku"))
    return _with(delta, "sales_buffer", pc.if_else(said, now, pa.scalar(None, pa.int64())))


def told_on(baseline: pa.Table, skus: pa.Array, buffers: Buffers) -> pa.Array:
    """Whether the quantity that the platform was told last switched these SKUs on; null where that is not known.

    By the buffer of that time, not of now: the platform compared once and forgot the quantity.
    """
    before = aligned(completed(baseline, BASELINE), skus, ["quantity", "sales_buffer"])
    by_buffer = buffers.switches_on(before["quantity"], before["sales_buffer"])
    return pc.coalesce(by_buffer, buffers.seen_to_switch_on(before["quantity"], skus))


def wanted_on(quantity: pa.Array, skus: pa.Array, buffers: Buffers) -> pa.Array:
    """Whether a quantity would switch these SKUs on now; null where that is not known."""
    return pc.coalesce(buffers.switches_on(quantity, buffers.of(skus)), buffers.seen_to_switch_on(quantity, skus))


def _without_effect(delta: pa.Table, baseline: pa.Table, buffers: Buffers) -> pa.Array:
    """A mask of the rows whose quantity changes nothing: same side of the buffer, or off before and after; no null in it."""
    skus = column(delta, "sku")
    before = aligned(baseline, skus, ["barcode", "quantity", "active"])
    flag = column(delta, "active")
    was, shall = told_on(baseline, skus, buffers), wanted_on(column(delta, "quantity"), skus, buffers)
    off = pc.equal(before["active"], False).fill_null(False)
    no_side = pc.and_(was.is_valid(), shall.is_valid())
    same = pc.or_(pc.equal(was, shall).fill_null(False), pc.and_(off, no_side))
    flag_is_news = pc.and_(flag.is_valid(), pc.not_equal(flag, before["active"]).fill_null(True))
    called_anew = pc.not_equal(padded(column(delta, "barcode")), padded(before["barcode"])).fill_null(False)
    told = pc.and_(before["quantity"].is_valid(), pc.equal(column(delta, "change"), "changed"))
    idle = pc.and_(pc.and_(same, told), pc.invert(pc.or_(flag_is_news, called_anew)))
    return pc.and_(idle, column(delta, "quantity").is_valid())


def _crossed_by_the_buffer(
    delta: pa.Table, baseline: pa.Table, snapshot: pa.Table, buffers: Buffers, refused: pa.Table | None
) -> pa.Table:
    """The delta with the quantities that are the same as before and now lie on the other side, because the buffer moved."""
    skus, quantity = column(snapshot, "sku"), column(snapshot, "quantity")
    before = aligned(baseline, skus, ["quantity", "active", "sales_buffer"])
    was = buffers.switches_on(before["quantity"], before["sales_buffer"])
    shall = buffers.switches_on(quantity, buffers.of(skus))
    moved = pc.and_(pc.not_equal(was, shall), pc.equal(quantity, before["quantity"])).fill_null(False)
    on = pc.coalesce(column(snapshot, "active"), before["active"]).fill_null(True)
    moved = pc.and_(moved, on)
    said = aligned(delta, skus, ["quantity"])["quantity"].is_valid()
    moved = pc.and_(moved, pc.invert(said))
    if refused is not None and refused.num_rows:
        moved = pc.and_(moved, pc.invert(pc.is_in(skus, value_set=column(refused, "sku").cast(pa.string()))))
    if not pc.any(moved).as_py():
        return delta
    rows = snapshot.filter(moved)
    there = pc.is_in(column(delta, "sku"), value_set=column(rows, "sku"))
    again = aligned(rows, column(delta, "sku"), ["quantity"])["quantity"]
    delta = _with(delta, "quantity", pc.if_else(there, again, column(delta, "quantity")))
    new = rows.filter(pc.invert(pc.is_in(column(rows, "sku"), value_set=column(delta, "sku"))))
    count = new.num_rows
    said_anew = {name: column(new, name) for name in ("sku", "barcode", "quantity")}
    said_anew["change"] = pa.repeat(pa.scalar("changed"), count)
    columns = [said_anew.get(field.name, pa.nulls(count, field.type)) for field in DELTA]
    whole = pa.concat_tables([delta, pa.Table.from_arrays(columns, schema=DELTA)])
    return whole.take(pc.array_sort_indices(column(whole, "sku")))


def _in_company(delta: pa.Table, spared: pa.Table, baseline: pa.Table) -> tuple[pa.Table, pa.Table]:
    """A quantity that would travel alone takes one of the spared along: in a request of one item it may switch nothing off."""
    first = spared.slice(0, 1)
    before = aligned(baseline, column(first, "sku"), ["active"])["active"]
    off = pc.if_else(pc.equal(before, False).fill_null(False), before, pa.scalar(None, pa.bool_()))
    both = pa.concat_tables([delta, _with(first, "active", off)])
    return both.take(pc.array_sort_indices(column(both, "sku"))), spared.slice(1)


def _of_quantities(delta: pa.Table, buffers: Buffers) -> pa.Table:
    """The delta as far as it is about quantities."""
    kept = {name: column(delta, name) for name in ("sku", "barcode", "quantity", "change")}
    kept["sales_buffer"] = buffers.of(kept["sku"])
    nothing = {field.name: pa.nulls(delta.num_rows, field.type) for field in DELTA}
    return pa.Table.from_arrays([(nothing | kept)[name] for name in DELTA.names], schema=DELTA)


def _says_something(delta: pa.Table) -> pa.Array:
    says = column(delta, FIELDS[0]).is_valid()
    for name in FIELDS[1:]:
        says = pc.or_(says, column(delta, name).is_valid())
    return says


def _with(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), table.schema.field(name), values)
