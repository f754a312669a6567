"""The category of every SKU as it was last said: what has left an extract no longer says its own."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column

SCHEMA = pa.schema([pa.field("sku", pa.string(), nullable=False), pa.field("category", pa.string(), nullable=False)])


def remembered(known: pa.Table | None, snapshot: pa.Table, baseline: pa.Table) -> pa.Table | None:
    """SKU and category of what is in the snapshot or the baseline, sorted by sku; None while nobody ever said a category."""
    said = "category" in snapshot.column_names and snapshot["category"].null_count < snapshot.num_rows
    if not said and known is None:
        return None
    skus = column(snapshot, "sku")
    gone = column(baseline, "sku").filter(pc.invert(pc.is_in(column(baseline, "sku"), value_set=skus)))
    everybody = pa.concat_arrays([skus, gone])
    now = (
        pa.concat_arrays([column(snapshot, "category"), pa.nulls(len(gone), pa.string())])
        if said
        else pa.nulls(len(everybody), pa.string())
    )
    if known is not None:
        now = pc.coalesce(now, aligned(known, everybody, ["category"])["category"])
    kept = now.is_valid()
    table = pa.Table.from_arrays([everybody.filter(kept), now.filter(kept)], schema=SCHEMA)
    return table.take(pc.array_sort_indices(table["sku"]))
