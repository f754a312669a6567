"""restore: a past acknowledged state laid over a snapshot, as if the ERP had these values."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import with_column

RESTORED = ("price", "active", "max_sales_quantity")
"""The fields that a restoration changes. The quantity of another day is wrong today, so a quantity is always the ERP's."""


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
