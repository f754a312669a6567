"""diff: the entries of one promotion against what the platform was told of it (apply(diff, told) = wanted)."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.promotions.shape import ENTRY, ITEM, TOLD

_VALUES = ("subtype", "value", "max_quantity")
ORDER = [
    ("active", "descending"),
    ("subtype", "ascending"),
    ("value", "ascending"),
    ("max_quantity", "ascending"),
    ("sku", "ascending"),
]


def diff(
    wanted: pa.Table,
    told: pa.Table,
    *,
    blocked: pa.Table | None = None,
    again: pa.Array | None = None,
    whole: bool = False,
) -> pa.Table:
    """What must be said (ITEM): SKUs that are new, have another discount or are in doubt; and, inactive, those that leave.

    `wanted` in ENTRY, `told` in TOLD shape, both sorted by sku. `blocked` (ENTRY): refused by every vendor at these values, not repeated.
    `again`: SKUs to be said once more though nothing changed. `whole`: everything is repeated, because the head changed.
    """
    skus = column(wanted, "sku")
    have = aligned(told, skus, (*_VALUES, "known"))
    same = pc.fill_null(have["known"], fill_value=False)
    for name in _VALUES:
        same = pc.and_(same, _equal(column(wanted, name), have[name]))
    said = pc.invert(same)
    if again is not None and len(again):
        said = pc.or_(said, pc.is_in(skus, value_set=again))
    if whole:
        said = pa.repeat(pa.scalar(value=True), len(skus))
    if blocked is not None and blocked.num_rows:
        held = aligned(blocked, skus, _VALUES)
        alike = pc.is_in(skus, value_set=column(blocked, "sku"))
        for name in _VALUES:
            alike = pc.and_(alike, _equal(column(wanted, name), held[name]))
        if again is not None and len(again):
            alike = pc.and_(alike, pc.invert(pc.is_in(skus, value_set=again)))
        said = pc.and_(said, pc.invert(alike))
    coming = wanted.filter(said)
    leaving = told.filter(pc.invert(pc.is_in(told["sku"], value_set=skus)))
    parts = [_items(coming, active=True), _items(leaving, active=False)]
    return pa.concat_tables(parts).sort_by(ORDER).combine_chunks()


def applied(told: pa.Table, items: pa.Table) -> pa.Table:
    """What the platform holds (TOLD) once it has taken these items (ITEM): what they say active is in, what they say inactive is out."""
    rest = told.filter(pc.invert(pc.is_in(told["sku"], value_set=column(items, "sku"))))
    there = items.filter(items["active"]).select(ENTRY.names)
    there = there.append_column(TOLD.field("known"), pa.repeat(pa.scalar(value=True), there.num_rows))
    return pa.concat_tables([rest, there.cast(TOLD)]).sort_by("sku").combine_chunks()


def doubted(told: pa.Table, items: pa.Table) -> pa.Table:
    """What the platform holds when nobody knows whether it has taken these items: each may be in or out, at either value."""
    keep = told.filter(pc.invert(pc.is_in(told["sku"], value_set=column(items, "sku"))))
    doubtful = items.select(ENTRY.names)
    doubtful = doubtful.append_column(TOLD.field("known"), pa.repeat(pa.scalar(value=False), items.num_rows))
    return pa.concat_tables([keep, doubtful.cast(TOLD)]).sort_by("sku").combine_chunks()


def _items(rows: pa.Table, *, active: bool) -> pa.Table:
    table = rows.select(ENTRY.names)
    return table.append_column(ITEM.field("active"), pa.repeat(pa.scalar(active), table.num_rows)).cast(ITEM)


def _equal(one: pa.Array, other: pa.Array) -> pa.Array:
    """Equality in which null is equal to null."""
    both_null = pc.and_(one.is_null(), other.is_null())
    return pc.or_(pc.fill_null(pc.equal(one, other), fill_value=False), both_null)
