"""status: where every vendor stands, from the ledger alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.ledger import switches

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts

_VENDORS = """
SELECT v.vendor,
       coalesce(b.rows, 0) AS acknowledged,
       b.created_at AS acknowledged_at,
       j.job_id AS open_job,
       j.state AS job_state,
       coalesce(j.sent, 0) AS in_flight,
       extract(epoch FROM ledger.instant() - j.created_at) AS open_for_s,
       coalesce(p.pending, 0) AS pending,
       (SELECT count(*) FROM ledger.rejection AS r WHERE r.vendor = v.vendor) AS rejected,
       l.run_id AS last_run,
       l.state AS last_state,
       l.failed_step,
       l.error,
       coalesce(l.rows_quarantined, 0) AS quarantined,
       coalesce(l.changes_held, 0) AS held,
       coalesce(l.changes_spared, 0) AS spared,
       extract(epoch FROM ledger.instant() - w.waiting_since) AS oldest_unacknowledged_s
FROM ledger.vendor AS v
LEFT JOIN ledger.baseline AS b ON b.vendor = v.vendor AND b.version = v.baseline_version
LEFT JOIN ledger.job AS j ON j.vendor = v.vendor AND j.state IN ('submitting', 'open', 'confirmed')
LEFT JOIN LATERAL (
    SELECT sum(item_count) AS pending FROM ledger.batch WHERE batch.vendor = v.vendor AND batch.state = 'planned'
) AS p ON true
LEFT JOIN LATERAL (
    SELECT vr.* FROM ledger.vendor_run AS vr JOIN ledger.run USING (run_id)
    WHERE vr.vendor = v.vendor AND NOT run.dry_run ORDER BY vr.generation DESC LIMIT 1
) AS l ON true
LEFT JOIN LATERAL (
    SELECT min(vr.updated_at) AS waiting_since FROM ledger.vendor_run AS vr JOIN ledger.run USING (run_id)
    WHERE vr.vendor = v.vendor AND NOT run.dry_run AND vr.generation > coalesce(
        (SELECT max(done.generation) FROM ledger.vendor_run AS done
         WHERE done.vendor = v.vendor AND done.state IN ('acknowledged', 'unchanged')), 0)
) AS w ON true
ORDER BY v.vendor
"""

_RUNS = """
SELECT run_id, run_key, kind, dry_run, state, error, started_at, finished_at
FROM ledger.run ORDER BY run_id DESC LIMIT :runs
"""


def status(parts: Parts, *, runs: int = 5) -> dict[str, Any]:
    """`{"paused": [...], "vendors": [...], "runs": [...]}`: who stopped what and why; per vendor what is pending, in flight, acknowledged, held, rejected, and how old.

    Times are seconds by the database's clock; `oldest_unacknowledged_s` is null when nothing waits.
    """
    with parts.engine.connect() as connection:
        vendors = [dict(row) for row in connection.execute(sa.text(_VENDORS)).mappings()]
        last = [dict(row) for row in connection.execute(sa.text(_RUNS), {"runs": runs}).mappings()]
        off = switches.stops(connection)
    for row in vendors:
        stop = switches.of_vendor(off, row["vendor"], chain=parts.settings.platform.chain)
        row["paused"] = None if stop is None else str(stop)
        for name in ("open_for_s", "oldest_unacknowledged_s", "pending"):
            row[name] = None if row[name] is None else float(row[name]) if name.endswith("_s") else int(row[name])
    return {"paused": [str(stop) for stop in off], "vendors": vendors, "runs": last}
