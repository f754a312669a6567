"""restore: a past acknowledged state laid over a snapshot, as if the ERP had these values."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import aligned, column, with_column
from shelfsync.schemas import BASELINE

RESTORED = ("price", "active", "max_sales_quantity")
"""The fields that a restoration changes. The quantity of another day is wrong today, so a quantity is always the ERP's."""


BOTTOM = 0
"""The layer without any restoration; the number of a restoration names what was acknowledged before that restoration began."""

UNRESTORED = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("layer", pa.int64(), nullable=False),
        *(BASELINE.field(name) for name in RESTORED),  # null: as acknowledged
    ]
)
"""Sorted by layer, then by sku; unique."""


def overlay(snapshot: pa.Table, past: pa.Table, skus: pa.Array | None = None) -> pa.Table:
    """The snapshot with the RESTORED fields as `past` (BASELINE schema) knows them, of these SKUs or of all.

    What the past does not know stays the ERP's. A SKU that has left the ERP comes back if it was on sale then. Sorted by sku, unique.
    """
    if skus is not None:
        past = past.filter(pc.is_in(past["sku"], value_set=skus))
    if past.num_rows == 0:
        return snapshot
    place = pc.index_in(snapshot["sku"].combine_chunks(), value_set=past["sku"].combine_chunks())
    for name in RESTORED:
        then = past[name].combine_chunks().take(place)
        snapshot = with_column(snapshot, name, pc.coalesce(then, snapshot[name].combine_chunks()))
    gone = past.filter(
        pc.and_(
            pc.invert(pc.is_in(past["sku"], value_set=snapshot["sku"].combine_chunks())), pc.equal(past["active"], True)
        )
    )
    if gone.num_rows == 0:
        return snapshot
    back = pa.table([_column(gone, field) for field in snapshot.schema], schema=snapshot.schema)
    together = pa.concat_tables([snapshot, back])
    return together.take(pc.sort_indices(together["sku"])).combine_chunks()


def _column(rows: pa.Table, field: pa.Field) -> pa.ChunkedArray | pa.Array:
    if field.name in rows.column_names and field.name != "quantity":
        return rows[field.name]
    return pa.nulls(rows.num_rows, field.type)


def with_unrestored(known: pa.Table, unrestored: pa.Table | None) -> pa.Table:
    """What is known of a vendor (BASELINE schema), with the values that it would have without any restoration."""
    if unrestored is None or unrestored.num_rows == 0:
        return known
    bottom = aligned(rows_of_layer(unrestored, BOTTOM), column(known, "sku"), RESTORED)
    for name in RESTORED:
        known = with_column(known, name, pc.coalesce(bottom[name], column(known, name)))
    return known


def reverts(delta: pa.Table, unrestored: pa.Table | None) -> dict[str, pa.Array]:
    """Field -> mask of the delta's rows whose value only reverts to that from before a restoration; empty without restorations."""
    if unrestored is None or unrestored.num_rows == 0:
        return {}
    skus = column(delta, "sku")
    masks = {name: pa.repeat(pa.scalar(False), delta.num_rows) for name in RESTORED}
    for layer in pc.unique(unrestored["layer"]).to_pylist():
        values = aligned(rows_of_layer(unrestored, layer), skus, RESTORED)
        for name in RESTORED:
            same = pc.equal(column(delta, name), values[name]).fill_null(False)
            masks[name] = pc.or_(masks[name], same)
    return masks


def rows_of_layer(unrestored: pa.Table, layer: int) -> pa.Table:
    """The rows of one layer (UNRESTORED schema)."""
    return unrestored.filter(pc.equal(unrestored["layer"], layer))
