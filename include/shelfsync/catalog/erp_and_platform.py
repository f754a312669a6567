"""Which SKUs are in the ERP, on the platform, or in both: what one has and the other lacks."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import aligned, column
from shelfsync.schemas import BASELINE


def products(
    observed: pa.Table,
    baseline: pa.Table,
    desired: pa.Table | None,
    *,
    complete: bool,
    quarantined: pa.Table | None = None,
) -> pa.Table:
    """sku, barcode, in_erp, on_platform, active_wanted, active_shown of a vendor, each SKU once, in no order.

    A SKU in quarantine is in the ERP, though its row cannot be sent. `in_erp` is null if it is unknown: the ERP was never read (`desired` is
    None), or the SKU was acknowledged and is absent from an extract that is not proven `complete`.
    """
    want = BASELINE.empty_table() if desired is None else desired
    in_quarantine = pa.array([], pa.string()) if quarantined is None else column(quarantined, "sku").drop_null()
    passed_over = pa.array([], pa.string()) if complete or desired is None else column(baseline, "sku")
    skus = pa.concat_arrays([column(want, "sku"), column(observed, "sku"), in_quarantine, passed_over]).unique()
    ours, theirs = (aligned(table, skus, ["sku", "barcode", "active"]) for table in (want, observed))
    has = pc.or_(ours["sku"].is_valid(), pc.is_in(skus, value_set=in_quarantine))
    unknown = pc.and_(pc.invert(has), pc.is_in(skus, value_set=passed_over)) if desired is not None else pc.invert(has)
    return pa.table(
        {
            "sku": skus,
            "barcode": pc.coalesce(ours["barcode"], theirs["barcode"]),
            "in_erp": pc.if_else(unknown, pa.scalar(None, pa.bool_()), has),
            "on_platform": theirs["sku"].is_valid(),
            "active_wanted": ours["active"],
            "active_shown": theirs["active"],
        }
    )
