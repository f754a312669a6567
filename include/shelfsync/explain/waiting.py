"""What stands between a wanted value and the platform, most binding first; each reader names one obstacle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.ledger import switches

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_IN_FLIGHT = """
SELECT 'job ' || j.job_id || ', sent at ' || to_char(j.created_at AT TIME ZONE 'UTC', 'HH24:MI:SS') || ', has ended'
       || coalesce(' (at the latest at ' || to_char(j.deadline_at AT TIME ZONE 'UTC', 'HH24:MI:SS') || ')', '')
FROM ledger.job AS j WHERE j.vendor = :vendor AND j.state IN ('submitting', 'open', 'confirmed')
"""

_REFUSED = """
SELECT CASE
           WHEN released_by IS NOT NULL THEN 'the next run sends it again, for ' || released_by || ' let it go; the platform refused it ('
           WHEN kind = 'unknown_sku' THEN 'an export or a listing shows the SKU, or its row changes, for the platform refused it ('
           WHEN next_try_at IS NULL THEN 'the ERP''s row changes, for the platform refused it ('
           ELSE 'it is tried again at ' || to_char(next_try_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ', for the platform refused it ('
       END || times || ' times, last in job ' || job_id || '): ' || reason
FROM ledger.rejection WHERE vendor = :vendor AND sku = :sku
"""

_FAILED = """
SELECT 'the next run gets past the step ' || vr.failed_step || ', where run ' || vr.run_id || ' failed: ' || vr.error
FROM ledger.vendor_run AS vr JOIN ledger.run AS r USING (run_id)
WHERE vr.vendor = :vendor AND NOT r.dry_run AND vr.generation = (
    SELECT max(last.generation) FROM ledger.vendor_run AS last JOIN ledger.run USING (run_id)
    WHERE last.vendor = :vendor AND NOT run.dry_run)
  AND vr.state = 'failed'
"""

_OBSTACLES = (_FAILED, _REFUSED, _IN_FLIGHT)


def waits_for(connection: Connection, vendor: str, sku: str) -> tuple[str, ...]:
    """Each as the end of "it will show … when". Empty: nothing is in the way of the next run."""
    bound = {"vendor": vendor, "sku": sku}
    said = [connection.execute(sa.text(statement), bound).scalar() for statement in _OBSTACLES]
    stop = switches.stopped(connection, vendor)
    paused = None if stop is None else f"sending goes on: {stop}"
    return tuple(line for line in (paused, *said) if line is not None)
