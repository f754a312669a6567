"""The last known category of every SKU: what vanishes is a category that the ERP named before."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import aligned, column

SCHEMA = pa.schema([pa.field("sku", pa.string(), nullable=False), pa.field("category", pa.string(), nullable=False)])


def last_categories(known: pa.Table | None, snapshot: pa.Table, baseline: pa.Table) -> pa.Table | None:
    """The last known category of each SKU of snapshot or baseline (SCHEMA, sorted by sku); None until the ERP has given a category.

    `known`: the result for the extract before.
    """
    has_category = "category" in snapshot.column_names and snapshot["category"].null_count < snapshot.num_rows
    if not has_category and known is None:
        return None
    skus = column(snapshot, "sku")
    gone = column(baseline, "sku").filter(pc.invert(pc.is_in(column(baseline, "sku"), value_set=skus)))
    every_sku = pa.concat_arrays([skus, gone])
    now = (
        pa.concat_arrays([column(snapshot, "category"), pa.nulls(len(gone), pa.string())])
        if has_category
        else pa.nulls(len(every_sku), pa.string())
    )
    if known is not None:
        now = pc.coalesce(now, aligned(known, every_sku, ["category"])["category"])
    valid = now.is_valid()
    table = pa.Table.from_arrays([every_sku.filter(valid), now.filter(valid)], schema=SCHEMA)
    return table.take(pc.array_sort_indices(table["sku"]))
