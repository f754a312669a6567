"""What the ERP says of a SKU, by the newest reading of its vendor, and what is wanted of it: the same, unless a restoration is in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.explain.event import Desired, Values
from shelfsync.explain.restorations import in_force, in_force_since

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    import pyarrow as pa
    from sqlalchemy.engine import Connection, Row

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.restorations import Restoration

_NEWEST = """
SELECT vr.run_id, vr.raw_path, vr.snapshot_path, e.read_at
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
    """None when the vendor was in no extract by then; a reading that retention has removed counts as none."""
    row = connection.execute(sa.text(_NEWEST), {"vendor": vendor, "at": at}).one_or_none()
    if row is None or not parts.lake.exists(row.snapshot_path):
        return None
    said = _said(parts, connection, row, vendor, sku, at)
    aside = None
    if said is None:
        bound = {"vendor": vendor, "sku": sku, "run": row.run_id}
        aside = connection.execute(sa.text(_SET_ASIDE), bound).scalar()
    ordered = in_force(connection, vendor, sku, at)
    wanted = _restored(parts, said, sku, ordered) if ordered else None
    if wanted is None:
        return Desired(row.run_id, row.read_at, _values(said), set_aside=aside)
    why = str(ordered[-1])
    return Desired(row.run_id, row.read_at, _values(wanted), set_aside=aside, restored=why, erp=_values(said))


def _values(row: pa.Table | None) -> Values | None:
    return None if row is None else Values(**{name: row[name][0].as_py() for name in _FIELDS})


def _said(
    parts: Parts, connection: Connection, row: Row[Any], vendor: str, sku: str, at: dt.datetime
) -> pa.Table | None:
    """The ERP's own row of the SKU (SNAPSHOT shape, one row): a restoration may lie over the snapshot, so there it is read from the raw rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.columns import SNAPSHOT

    if in_force_since(connection, vendor, sku, row.read_at, at) and row.raw_path and parts.lake.exists(row.raw_path):
        from shelfsync.catalog.normalise import normalise

        raw = parts.lake.read_table(row.raw_path)
        rows = normalise(raw, parts.settings.normalise, key=parts.settings.platform.key).snapshot
        rows = rows.filter(pc.equal(rows["sku"], sku))
    else:
        found = parts.lake.find(row.snapshot_path, sku)
        rows = pa.Table.from_pylist([] if found is None else [found], schema=SNAPSHOT)
    return rows if rows.num_rows else None


def _restored(parts: Parts, said: pa.Table | None, sku: str, ordered: Iterable[Restoration]) -> pa.Table | None:
    """The row with these restorations laid over it, oldest first; None: they say nothing of the SKU."""
    import pyarrow as pa

    from shelfsync.catalog.restore import overlay
    from shelfsync.columns import SNAPSHOT

    row, one = (SNAPSHOT.empty_table() if said is None else said), pa.array([sku])
    for restoration in ordered:
        if parts.lake.exists(restoration.path):
            row = overlay(row, parts.lake.read_table(restoration.path), one)
    return row if row.num_rows else None
