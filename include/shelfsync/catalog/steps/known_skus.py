"""The SKUs of a vendor that the platform has: those that it acknowledged, and those that its newest export or listing shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.ledger import observations, vendors

if TYPE_CHECKING:
    import pyarrow as pa

    from shelfsync.catalog.odd_key import Known
    from shelfsync.context import Context


def known_skus(context: Context, vendor: str, *, whole: bool = True) -> Known:
    """What a SKU of the ERP is compared with; the export is read only if a SKU is not acknowledged. `whole`: as in `Known`."""
    from shelfsync.catalog.odd_key import Known

    with context.engine.connect() as connection:
        base = vendors.current_baseline(connection, vendor)
        seen = observations.newest(connection, vendor)
    shown = None if seen is None else seen.path
    acknowledged = _skus(context, None if base is None else base.path)
    return Known(acknowledged, lambda: _skus(context, shown), whole)


def _skus(context: Context, path: str | None) -> pa.Array:
    import pyarrow as pa

    from shelfsync.catalog.alignment import column

    if path is None or not context.lake.exists(path):
        return pa.array([], pa.string())
    return column(context.lake.read_table(path, ["sku"]), "sku")
