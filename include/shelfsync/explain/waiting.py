"""What a wanted value waits for before the platform shows it. Each query finds one obstacle; the first found counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.platform import kill_switch

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

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


def waits_for(connection: Connection, vendor: str, sku: str) -> tuple[str, ...]:
    """Each as the end of "The platform will show … when". Empty: the next run can send it."""
    bound = {"vendor": vendor, "sku": sku}
    found = [connection.execute(sa.text(statement), bound).scalar() for statement in _OBSTACLES]
    stop = kill_switch.stopped(connection, vendor)
    paused = None if stop is None else f"sending resumes: {stop}"
    return tuple(line for line in (paused, *found) if line is not None)
