"""The ERP's values of a SKU, by the newest extract of its vendor, and the wanted values: the same, unless a restoration is in force.

And what a wanted value waits for before the platform shows it. Each query finds one obstacle; the first found counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.explain.explanation import Desired, Values
from shelfsync.explain.holds import in_force, in_force_since
from shelfsync.platform import kill_switch

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    import pyarrow as pa
    from sqlalchemy.engine import Connection, Row

    from shelfsync.catalog.ledger.restorations import Restoration
    from shelfsync.context import Context

_NEWEST = """
SELECT vr.run_id, vr.raw_path, vr.snapshot_path, e.read_at
FROM ledger.vendor_run AS vr
JOIN ledger.run AS r USING (run_id)
JOIN ledger.extract AS e ON e.extract_id = vr.extract_id
WHERE vr.vendor = :vendor AND NOT r.dry_run AND vr.snapshot_path IS NOT NULL AND e.read_at <= :at
ORDER BY vr.generation DESC LIMIT 1
"""

_QUARANTINED = """
SELECT message FROM warehouse.quarantine WHERE vendor = :vendor AND sku = :sku AND run_id = :run ORDER BY row_number LIMIT 1
"""

_FIELDS = ("price", "quantity", "active", "max_sales_quantity")
_IN_FLIGHT = """
SELECT 'job ' || j.job_id || ', sent at ' || to_char(j.created_at AT TIME ZONE 'UTC', 'HH24:MI:SS') || ', has ended'
       || coalesce(' (deadline ' || to_char(j.deadline_at AT TIME ZONE 'UTC', 'HH24:MI:SS') || ')', '')
FROM ledger.job AS j WHERE j.vendor = :vendor AND j.state IN ('submitting', 'open', 'confirmed')
"""

_REJECTED = """
SELECT CASE
           WHEN released_by IS NOT NULL THEN 'the next run sends it again (released by ' || released_by || '). The platform rejected it ('
           WHEN kind = 'unknown_sku' THEN 'an export or a listing shows the SKU, or its row changes. The platform rejected it ('
           WHEN next_try_at IS NULL THEN 'the ERP''s row changes. The platform rejected it ('
           ELSE 'shelfsync sends it again at ' || to_char(next_try_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || '. The platform rejected it ('
       END || times || ' times, last in job ' || job_id || '): ' || reason
FROM ledger.rejection WHERE vendor = :vendor AND sku = :sku
"""

_FAILED = """
SELECT 'the next run completes the step ' || vr.failed_step || '. Run ' || vr.run_id || ' failed there: ' || vr.error
FROM ledger.vendor_run AS vr JOIN ledger.run AS r USING (run_id)
WHERE vr.vendor = :vendor AND NOT r.dry_run AND vr.generation = (
    SELECT max(last.generation) FROM ledger.vendor_run AS last JOIN ledger.run USING (run_id)
    WHERE last.vendor = :vendor AND NOT run.dry_run)
  AND vr.state = 'failed'
"""

_OBSTACLES = (_FAILED, _REJECTED, _IN_FLIGHT)


def desired(context: Context, connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Desired | None:
    """None if no extract had the vendor by then, or if retention has removed that extract."""
    row = connection.execute(sa.text(_NEWEST), {"vendor": vendor, "at": at}).one_or_none()
    if row is None or not context.lake.exists(row.snapshot_path):
        return None
    found = _erp_row(context, connection, row, vendor, sku, at)
    quarantined = None
    if found is None:
        bound = {"vendor": vendor, "sku": sku, "run": row.run_id}
        quarantined = connection.execute(sa.text(_QUARANTINED), bound).scalar()
    ordered = in_force(connection, vendor, sku, at)
    wanted = _restored(context, found, sku, ordered) if ordered else None
    if wanted is None:
        return Desired(row.run_id, row.read_at, _values(found), quarantined=quarantined)
    return Desired(
        row.run_id, row.read_at, _values(wanted), quarantined=quarantined, restored=str(ordered[-1]), erp=_values(found)
    )


def _values(row: pa.Table | None) -> Values | None:
    return None if row is None else Values(**{name: row[name][0].as_py() for name in _FIELDS})


def _erp_row(
    context: Context, connection: Connection, row: Row[Any], vendor: str, sku: str, at: dt.datetime
) -> pa.Table | None:
    """The ERP's own row of the SKU (SNAPSHOT shape, one row). If a restoration may have changed the snapshot, it is read from the raw rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.schemas import SNAPSHOT

    if in_force_since(connection, vendor, sku, row.read_at, at) and row.raw_path and context.lake.exists(row.raw_path):
        from shelfsync.catalog.normalise import normalise

        raw = context.lake.read_table(row.raw_path)
        rows = normalise(raw, context.settings.normalise, key=context.settings.platform.item_key).snapshot
        rows = rows.filter(pc.equal(rows["sku"], sku))
    else:
        found = context.lake.find(row.snapshot_path, sku)
        rows = pa.Table.from_pylist([] if found is None else [found], schema=SNAPSHOT)
    return rows if rows.num_rows else None


def _restored(context: Context, erp: pa.Table | None, sku: str, ordered: Iterable[Restoration]) -> pa.Table | None:
    """The row with these restorations applied, oldest first; None: none of them has the SKU."""
    import pyarrow as pa

    from shelfsync.catalog.restore import overlay
    from shelfsync.schemas import SNAPSHOT

    row, skus = (SNAPSHOT.empty_table() if erp is None else erp), pa.array([sku])
    for restoration in ordered:
        if context.lake.exists(restoration.path):
            row = overlay(row, context.lake.read_table(restoration.path), skus)
    return row if row.num_rows else None


def waits_for(connection: Connection, vendor: str, sku: str) -> tuple[str, ...]:
    """Each as the end of "The platform will show … when". Empty: the next run can send it."""
    bound = {"vendor": vendor, "sku": sku}
    found = [connection.execute(sa.text(statement), bound).scalar() for statement in _OBSTACLES]
    stop = kill_switch.stopped(connection, vendor)
    paused = None if stop is None else f"sending resumes: {stop}"
    return tuple(line for line in (paused, *found) if line is not None)
