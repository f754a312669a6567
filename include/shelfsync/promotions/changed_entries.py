"""diff: the wanted entries of one promotion against the acknowledged ones (apply(diff, acknowledged) = wanted)."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.promotions.schemas import ACKNOWLEDGED, ENTRY, ITEM
from shelfsync.rows.alignment import aligned, column

_VALUES = ("subtype", "value", "max_quantity")
ORDER = [
    ("active", "descending"),
    ("subtype", "ascending"),
    ("value", "ascending"),
    ("max_quantity", "ascending"),
    ("sku", "ascending"),
]


def changed_entries(
    wanted: pa.Table,
    acknowledged: pa.Table,
    *,
    blocked: pa.Table | None = None,
    resend: pa.Array | None = None,
    whole: bool = False,
) -> pa.Table:
    """What must be sent (ITEM): SKUs that are new, have another discount or are unconfirmed; and, inactive, those that leave.

    `wanted` in ENTRY, `acknowledged` in ACKNOWLEDGED shape, both sorted by sku. `blocked` (ENTRY): rejected at every vendor with these
    values, not sent again. `resend`: SKUs to send again without a change. `whole`: everything is sent, because the head changed.
    """
    skus = column(wanted, "sku")
    have = aligned(acknowledged, skus, (*_VALUES, "known"))
    same = pc.fill_null(have["known"], fill_value=False)
    for name in _VALUES:
        same = pc.and_(same, _equal(column(wanted, name), have[name]))
    sent = pc.invert(same)
    if resend is not None and len(resend):
        sent = pc.or_(sent, pc.is_in(skus, value_set=resend))
    if whole:
        sent = pa.repeat(pa.scalar(value=True), len(skus))
    if blocked is not None and blocked.num_rows:
        held = aligned(blocked, skus, _VALUES)
        alike = pc.is_in(skus, value_set=column(blocked, "sku"))
        for name in _VALUES:
            alike = pc.and_(alike, _equal(column(wanted, name), held[name]))
        if resend is not None and len(resend):
            alike = pc.and_(alike, pc.invert(pc.is_in(skus, value_set=resend)))
        sent = pc.and_(sent, pc.invert(alike))
    coming = wanted.filter(sent)
    going = acknowledged.filter(pc.invert(pc.is_in(acknowledged["sku"], value_set=skus)))
    parts = [_items(coming, active=True), _items(going, active=False)]
    return pa.concat_tables(parts).sort_by(ORDER).combine_chunks()


def applied(acknowledged: pa.Table, items: pa.Table) -> pa.Table:
    """The acknowledged entries after the platform accepted these items (ITEM): active ones are in, inactive ones are out."""
    return _replaced(acknowledged, items, items.filter(items["active"]), known=True)


def unconfirmed(acknowledged: pa.Table, items: pa.Table) -> pa.Table:
    """The acknowledged entries if the outcome of these items is unknown: each may be in or out, at either value."""
    return _replaced(acknowledged, items, items, known=False)


def leaving(acknowledged: pa.Table) -> pa.Table:
    """The items (ITEM) that take all of these entries out."""
    return changed_entries(ENTRY.empty_table(), acknowledged)


def _replaced(acknowledged: pa.Table, items: pa.Table, there: pa.Table, *, known: bool) -> pa.Table:
    """The acknowledged entries without the SKUs of `items`, and with those of `there`."""
    if items.num_rows == 0:
        return acknowledged
    columns = [column(there, name) for name in ENTRY.names]
    new = pa.Table.from_arrays([*columns, pa.repeat(pa.scalar(known), there.num_rows)], schema=ACKNOWLEDGED)
    if acknowledged.num_rows:
        rest = acknowledged.filter(pc.invert(pc.is_in(acknowledged["sku"], value_set=column(items, "sku"))))
        new = pa.concat_tables([rest, new])
    return new.take(pc.sort_indices(column(new, "sku"))).combine_chunks()


def _items(rows: pa.Table, *, active: bool) -> pa.Table:
    table = rows.select(ENTRY.names)
    return table.append_column(ITEM.field("active"), pa.repeat(pa.scalar(active), table.num_rows)).cast(ITEM)


def _equal(first: pa.Array, second: pa.Array) -> pa.Array:
    """Equality in which null is equal to null."""
    both_null = pc.and_(first.is_null(), second.is_null())
    return pc.or_(pc.fill_null(pc.equal(first, second), fill_value=False), both_null)
