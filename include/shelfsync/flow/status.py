"""status: where every vendor stands: its counts, its open job, its last run, and what people have ordered."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.flow.counts import counts
from shelfsync.flow.orders.standing import standing
from shelfsync.flow.outlook import outlook
from shelfsync.inbox import events
from shelfsync.ledger import freshness, restorations, switches
from shelfsync.warehouse import set_aside

if TYPE_CHECKING:
    from shelfsync.catalog.count import Counts
    from shelfsync.flow.house import Parts

_VENDORS = """
SELECT v.vendor,
       b.created_at AS acknowledged_at,
       j.job_id AS open_job,
       j.state AS job_state,
       extract(epoch FROM ledger.instant() - j.created_at) AS open_for_s,
       l.run_id AS last_run,
       l.state AS last_state,
       l.failed_step,
       l.error,
       v.in_vain AS failures_in_a_row,
       extract(epoch FROM ledger.instant() - w.waiting_since) AS oldest_unacknowledged_s
FROM ledger.vendor AS v
LEFT JOIN LATERAL (
    SELECT moved.created_at FROM ledger.baseline AS moved LEFT JOIN ledger.job USING (job_id)
    WHERE moved.vendor = v.vendor AND job.state IS DISTINCT FROM 'unconfirmed' ORDER BY moved.version DESC LIMIT 1
) AS b ON true
LEFT JOIN ledger.job AS j ON j.vendor = v.vendor AND j.state IN ('submitting', 'open', 'confirmed')
LEFT JOIN LATERAL (
    SELECT vr.* FROM ledger.vendor_run AS vr JOIN ledger.run USING (run_id)
    WHERE vr.vendor = v.vendor AND NOT run.dry_run ORDER BY vr.generation DESC LIMIT 1
) AS l ON true
LEFT JOIN LATERAL (
    SELECT max(done.generation) AS generation FROM ledger.vendor_run AS done JOIN ledger.run USING (run_id)
    WHERE done.vendor = v.vendor AND NOT run.dry_run AND run.skus = '{}' AND done.state IN ('acknowledged', 'unchanged')
) AS d ON true
LEFT JOIN LATERAL (
    SELECT min(coalesce(e.read_at, vr.updated_at)) AS waiting_since
    FROM ledger.vendor_run AS vr JOIN ledger.run USING (run_id) LEFT JOIN ledger.extract AS e ON e.extract_id = vr.extract_id
    WHERE vr.vendor = v.vendor AND NOT run.dry_run AND (vr.generation > coalesce(d.generation, 0)
        OR vr.generation = d.generation AND EXISTS (
            SELECT FROM ledger.job JOIN ledger.batch USING (batch_id)
            WHERE batch.vendor = v.vendor AND batch.generation = d.generation AND job.unaccounted > 0))
) AS w ON true
ORDER BY v.vendor
"""

_RUNS = """
SELECT run_id, run_key, kind, dry_run, state, error, started_at, finished_at
FROM ledger.run ORDER BY run_id DESC LIMIT :runs
"""


def status(parts: Parts, *, runs: int = 5) -> dict[str, Any]:
    """`{"paused": [...], "restorations": [...], "set_aside": [...], "alarms": [...], "vendors": [...], "freshness": [...], "forecast": {...}, "runs": [...], "orders": {...}}`: who stopped what and why; what is kept as it was on another day, by whom and why; per vendor in which column its rows stand, and how old the oldest change is; how long the last day's changes took, lane by lane; how orders stand.

    Times are seconds by the database's clock; `oldest_unacknowledged_s` counts from the reading of the ERP that saw the change, and is
    null when nothing waits. The counts of a vendor are those of catalog.count: each row of the ERP is in one column; all are null where
    a file that is needed to know them cannot be read. `rejected` is the sum of what is rejected for good and for now.
    """
    numbers = counts(parts)
    with parts.engine.connect() as connection:
        vendors = [dict(row) for row in connection.execute(sa.text(_VENDORS)).mappings()]
        fresh = freshness.of_lately(connection)
        last = [dict(row) for row in connection.execute(sa.text(_RUNS), {"runs": runs}).mappings()]
        off = switches.stops(connection)
        orders = standing(connection, parts.settings.orders)
        restored = restorations.in_force(connection)
        aside = set_aside.of_last(connection)
        alarms = [*set_aside.lines(aside), *events.jobs_set_aside(connection)]
    for row in vendors:
        stop = switches.of_vendor(off, row["vendor"], chain=parts.settings.platform.chain)
        row["paused"] = None if stop is None else str(stop)
        row.update(_numbers(numbers.get(row["vendor"])))
        for name in ("open_for_s", "oldest_unacknowledged_s"):
            row[name] = None if row[name] is None else float(row[name])
    return {
        "paused": [str(stop) for stop in off],
        "restorations": [str(one) for one in restored],
        "set_aside": aside,
        "alarms": alarms,
        "vendors": vendors,
        "freshness": fresh,
        "forecast": _forecast(parts),
        "runs": last,
        "orders": orders,
    }


def _numbers(of_vendor: Counts | None) -> dict[str, int | None]:
    from shelfsync.catalog.count import NAMES

    if of_vendor is None:
        return {**dict.fromkeys(NAMES), "rejected": None}
    numbers: dict[str, int | None] = dict(dataclasses.asdict(of_vendor))
    return {**numbers, "rejected": of_vendor.rejected_for_good + of_vendor.rejected_for_now}


def _forecast(parts: Parts) -> dict[str, Any]:
    ahead = outlook(parts)
    return {**dataclasses.asdict(ahead), "sentence": ahead.sentence()}
