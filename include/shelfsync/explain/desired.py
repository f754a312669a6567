"""What the ERP says of a SKU, by the newest snapshot of its vendor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.explain.event import Desired, Values
from shelfsync.ledger import restorations

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts

_NEWEST = """
SELECT vr.run_id, vr.snapshot_path, e.read_at
FROM ledger.vendor_run AS vr
JOIN ledger.run AS r USING (run_id)
JOIN ledger.extract AS e ON e.extract_id = vr.extract_id
WHERE vr.vendor = :vendor AND NOT r.dry_run AND vr.snapshot_path IS NOT NULL AND e.read_at <= :at
ORDER BY vr.generation DESC LIMIT 1
"""

_SET_ASIDE = """
SELECT message FROM warehouse.quarantine WHERE vendor = :vendor AND sku = :sku AND run_id = :run ORDER BY row_number LIMIT 1
"""

_FIELDS = ("price", "quantity", "active", "max_sales_quantity")


def desired(parts: Parts, connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Desired | None:
    """None when the vendor was in no extract by then; a snapshot that retention has removed counts as none."""
    row = connection.execute(sa.text(_NEWEST), {"vendor": vendor, "at": at}).one_or_none()
    if row is None or not parts.lake.exists(row.snapshot_path):
        return None
    found = parts.lake.find(row.snapshot_path, sku)
    if found is not None:
        values = Values(**{name: found[name] for name in _FIELDS})
        return Desired(row.run_id, row.read_at, values, restored=_restored(connection, vendor, sku, row.read_at))
    aside = connection.execute(sa.text(_SET_ASIDE), {"vendor": vendor, "sku": sku, "run": row.run_id}).scalar()
    return Desired(row.run_id, row.read_at, None, set_aside=aside)


def _restored(connection: Connection, vendor: str, sku: str, read_at: dt.datetime) -> str | None:
    """The restoration that the snapshot was made under; it is asked for by what is in force now."""
    for one in reversed(restorations.in_force(connection, vendor)):
        if one.begun_at <= read_at and (one.skus is None or sku in one.skus):
            return str(one)
    return None
