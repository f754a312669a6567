"""status: the counts, the open job and the last run of every vendor, the forecast of what is planned, and how fresh the platform is.

Freshness is the time from a change in the ERP to the platform's acknowledgement, for each priority. Only SKUs with a success line count. It
begins with the first extract that may have the change (the first since the vendor was last acknowledged), and ends with the job that carried it.
The ERP's wait for that extract is additional: at most one interval of the schedule.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import metrics, outages
from shelfsync.catalog.ledger import batches, change_files, restorations, source_columns, tables
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.ledger import runs as catalog_runs
from shelfsync.catalog.ledger.batches import rank
from shelfsync.catalog.ledger.tables import batch
from shelfsync.catalog.sku_state import NAMES
from shelfsync.catalog.steps import absent
from shelfsync.catalog.steps.counts import counts
from shelfsync.catalog.warehouse import quarantine
from shelfsync.inbox import events
from shelfsync.platform import kill_switch
from shelfsync.platform.jobs.table import State, job
from shelfsync.platform.rate_limit.forecast import Requests
from shelfsync.platform.rate_limit.rate_limiter import RateLimiter
from shelfsync.platform.rate_limit.scope import counted
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.catalog.sku_state import Counts
    from shelfsync.context import Context
    from shelfsync.platform.rate_limit.forecast import Forecast


_VENDORS = """
SELECT v.vendor,
       b.created_at AS acknowledged_at,
       j.job_id AS open_job,
       j.state AS job_state,
       extract(epoch FROM ledger.instant() - j.created_at) AS open_for_s,
       l.run_id AS last_run,
       l.state AS last_state,
       j.job_id IS NOT NULL OR l.state = 'busy' AND f.at_work OR l.state = 'open' AND l.run_id = ANY (:alive) AS at_work,
       l.failed_step,
       l.error,
       v.consecutive_failures,
       extract(epoch FROM ledger.instant() - coalesce(least(p.since, a.since, w.since), s.since)) AS oldest_unacknowledged_s,
       extract(epoch FROM ledger.instant() - h.since) AS oldest_held_s
FROM ledger.vendor AS v
LEFT JOIN LATERAL (
    SELECT moved.created_at FROM ledger.baseline AS moved WHERE moved.vendor = v.vendor AND NOT EXISTS (
        SELECT FROM ledger.job WHERE job.vendor = moved.vendor AND job.job_id = moved.job_id AND job.state = 'unconfirmed' OFFSET 0)
    ORDER BY moved.version DESC LIMIT 1
) AS b ON true
LEFT JOIN LATERAL (
    SELECT job.* FROM ledger.job
    WHERE job.vendor = v.vendor AND job.state IN ('submitting', 'open', 'confirmed') ORDER BY job.job_id LIMIT 1
) AS j ON true
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM ledger.vendor_run AS vr JOIN ledger.run USING (run_id)
        WHERE vr.run_id = ANY (:alive) AND vr.vendor = v.vendor AND vr.state = 'open' AND vr.generation >= v.fence AND run.kind = 'full'
    ) AS at_work
) AS f
LEFT JOIN LATERAL (
    SELECT vr.* FROM ledger.vendor_run AS vr JOIN ledger.run USING (run_id)
    WHERE vr.vendor = v.vendor AND NOT run.dry_run AND vr.state <> 'superseded'
        AND (vr.state <> 'busy' OR j.job_id IS NOT NULL OR f.at_work OR v.consecutive_failures > 0)
        AND (run.skus = '{}' OR vr.state NOT IN ('acknowledged', 'unchanged'))
    ORDER BY vr.generation DESC LIMIT 1
) AS says ON true
LEFT JOIN LATERAL (
    SELECT says.run_id, says.state, says.failed_step, says.error WHERE says.run_id IS NOT NULL
    UNION ALL
    (SELECT vr.run_id, vr.state, vr.failed_step, vr.error FROM ledger.vendor_run AS vr JOIN ledger.run USING (run_id)
    WHERE says.run_id IS NULL AND vr.vendor = v.vendor AND NOT run.dry_run ORDER BY vr.generation DESC LIMIT 1)
) AS l ON true
LEFT JOIN LATERAL (
    SELECT done.generation FROM ledger.vendor_run AS done JOIN ledger.run USING (run_id)
    WHERE done.vendor = v.vendor AND NOT run.dry_run AND run.skus = '{}' AND done.state IN ('acknowledged', 'unchanged')
        AND NOT EXISTS (
            SELECT FROM ledger.job JOIN ledger.batch USING (batch_id)
            WHERE job.vendor = done.vendor AND batch.run_id = done.run_id AND batch.generation = done.generation
                AND (job.unaccounted > 0 OR job.state = 'unconfirmed') OFFSET 0)
    ORDER BY done.generation DESC LIMIT 1
) AS d ON true
LEFT JOIN LATERAL (
    SELECT min(e.read_at) AS since FROM (
        SELECT run_id, extract_id FROM ledger.vendor_run AS vr
        WHERE vr.vendor = v.vendor AND vr.generation > coalesce(d.generation, 0) AND vr.state <> 'unchanged' OFFSET 0
    ) AS left_open JOIN ledger.run USING (run_id) JOIN ledger.extract AS e ON e.extract_id = left_open.extract_id
    WHERE NOT run.dry_run
) AS w ON true
LEFT JOIN LATERAL (
    SELECT min(waiting.since) AS since FROM (
        SELECT coalesce(wanted_at, created_at) AS since FROM ledger.batch WHERE vendor = v.vendor AND state = 'planned'
        UNION ALL
        SELECT coalesce(batch.wanted_at, batch.created_at) FROM ledger.job JOIN ledger.batch USING (batch_id)
        WHERE job.vendor = v.vendor AND job.state IN ('submitting', 'open', 'confirmed')
    ) AS waiting
) AS p ON true
LEFT JOIN LATERAL (
    SELECT min(hold.held_at) AS since FROM ledger.hold
    WHERE hold.subject = 'catalog' AND hold.vendor = v.vendor AND hold.state = 'approved' AND hold.spent_at IS NULL AND hold.superseded_by IS NULL
        AND (hold.released_at IS NULL OR j.job_id IS NOT NULL)
) AS a ON true
LEFT JOIN LATERAL (
    SELECT min(hold.held_at) AS since FROM ledger.hold
    WHERE hold.subject = 'catalog' AND hold.vendor = v.vendor AND hold.state IN ('open', 'declined', 'expired') AND hold.superseded_by IS NULL
) AS h ON true
LEFT JOIN LATERAL (
    SELECT e.read_at AS since
    FROM ledger.vendor_run AS vr JOIN ledger.run USING (run_id) JOIN ledger.extract AS e ON e.extract_id = vr.extract_id
    WHERE vr.vendor = v.vendor AND NOT run.dry_run AND vr.snapshot_path IS NOT NULL ORDER BY vr.generation DESC LIMIT 1
) AS s ON true
WHERE v.forgotten IS NULL AND (CAST(:vendors AS text[]) IS NULL OR v.vendor = ANY (:vendors))
ORDER BY v.vendor
"""
"""`l`: the vendor's last run, which is the newest one that says how the vendor is. A run passed over says it only while its cause lasts;
a superseded one, or the success of an urgent run, says nothing of the whole vendor. `d`: the last run that left nothing of it unconfirmed.

The oldest change waits since `w` (read after `d`), `p` (planned or in a job), `a` (approved hold); `s`, the newest snapshot, if none is known.
"""

_RUNS = """
SELECT run_id, run_key, kind, dry_run, state, error, started_at, finished_at
FROM ledger.run ORDER BY run_id DESC LIMIT :runs
"""


def status(context: Context, *, runs: int = 5) -> dict[str, Any]:
    """`{"paused": [...], "restorations": [...], "unusable_vendors": [...], "absent": [...], "outages": [...], "alarms": [...], "vendors": [...], "freshness": [...], "forecast": {...},
    "requests": {...}, "runs": [...]}`.

    `paused` and `restorations` name who did it and why. `vendors` has the counts of each vendor and the age of its oldest change.
    `freshness` has the times of the last day's changes, by priority; `requests` what the request limit was used for.

    Times are seconds by the database's clock. `oldest_unacknowledged_s` counts from the extract that had the change, and is null if
    nothing is pending, in flight or unconfirmed. `oldest_held_s` is the same of what a guard holds. `at_work`: a job of the vendor is open,
    or a run is at work with it. The counts of a vendor are those of catalog.sku_state: each row of the ERP is in one column. All are null if a file
    cannot be read. `rejected` is the sum of what is rejected for good and for now.
    """
    vendors = vendor_rows(context)
    with context.engine.connect() as connection:
        fresh = freshness_lately(connection)
        last = [dict(row) for row in connection.execute(sa.text(_RUNS), {"runs": runs}).mappings()]
        off = kill_switch.stops(connection)
        restored = restorations.in_force(connection)
        unusable = quarantine.unusable_of_last(connection)
        missing = absent.last(connection)
        away = outages.lately(connection)
        alarms = [
            *quarantine.unusable_lines(unusable),
            *events.quarantined_jobs(connection),
            *change_files.lines(connection),
            *source_columns.lines(connection),
        ]
    return {
        "paused": [str(stop) for stop in off],
        "restorations": [str(one) for one in restored],
        "unusable_vendors": unusable,
        "absent": absent.lines(context, missing),
        "outages": away,
        "alarms": alarms,
        "vendors": vendors,
        "freshness": fresh,
        "forecast": _forecast(context),
        "requests": _requests(context),
        "runs": last,
    }


def vendor_rows(context: Context, names: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """The rows `vendors` of the status, of these vendors or of all; a vendor that is unknown or taken out has none."""
    numbers = counts(context, names)
    asked = sa.text(_VENDORS).bindparams(sa.bindparam("vendors", type_=sa.ARRAY(sa.Text)))
    with context.engine.connect() as connection:
        given = {"alive": catalog_runs.living(connection), "vendors": None if names is None else list(names)}
        found = connection.execute(asked, given)
        columns = tuple(found.keys())
        vendors = [dict(zip(columns, row, strict=True)) for row in found.all()]
        off = kill_switch.stops(connection)
    for row in vendors:
        stop = kill_switch.of_vendor(off, row["vendor"], chain=context.settings.platform.chain)
        row["paused"] = None if stop is None else str(stop)
        row.update(_numbers(numbers.get(row["vendor"])))
        if row["pending"] is not None and not row["pending"] + row["in_flight"] + row["unconfirmed"]:
            row["oldest_unacknowledged_s"] = None
        if row["held"] == 0:
            row["oldest_held_s"] = None
        for name in ("open_for_s", "oldest_unacknowledged_s", "oldest_held_s"):
            row[name] = None if row[name] is None else float(row[name])
    return vendors


def _numbers(of_vendor: Counts | None) -> dict[str, int | None]:
    if of_vendor is None:
        return {**dict.fromkeys(NAMES), "rejected": None}
    return {**of_vendor._asdict(), "rejected": of_vendor.rejected_for_good + of_vendor.rejected_for_now}


def _forecast(context: Context) -> dict[str, Any]:
    ahead = outlook(context)
    return {**dataclasses.asdict(ahead), "sentence": ahead.sentence()}


def _requests(context: Context) -> dict[str, Any]:
    used = _limiter(context).use()
    return {**dataclasses.asdict(used), "polls_share": used.polls_share, "sentence": used.sentence()}


def bound(context: Context, connection: Connection, run_id: int, jobs: int) -> dict[str, Any] | None:
    """Whether a run waited for the platform or for itself: `{"requests", "bound_s", "took_s"}`; None if it sent nothing.

    `requests`: an update and a log for each job. `bound_s`: what these take at the request limit, by any program.
    """
    if not jobs:
        return None
    run = tables.run.c
    took_s = sa.select(sa.extract("epoch", run.finished_at - run.started_at)).where(run.run_id == run_id)
    requests = Requests(jobs, polls_a_job=0, others=0).total
    bound_s = requests * 60 / context.settings.rate_limit.requests_per_minute
    return {"requests": requests, "bound_s": bound_s, "took_s": float(connection.execute(took_s).scalar_one())}


def report_gauges(context: Context) -> None:
    """Reports sums over all vendors and the greatest age; reads nothing if no metrics sink is configured."""
    if not metrics.listened_to():
        return

    vendors = status(context, runs=0)["vendors"]
    metrics.gauge("vendors.known", len(vendors))
    metrics.gauge("jobs.open", sum(row["open_job"] is not None for row in vendors))
    for name in NAMES:
        metrics.gauge(f"skus.{name}", sum(row[name] or 0 for row in vendors))
    for name in ("oldest_unacknowledged_s", "oldest_held_s"):
        metrics.gauge(name, max((row[name] or 0.0 for row in vendors), default=0.0))


def outlook(context: Context) -> Forecast:
    """The forecast of all plans and all open jobs, of every run together, because they share one rate limit.

    A job counts as its request, one status call and its log; with a webhook it takes two thirds. The plan of a paused vendor is counted
    separately. While everything is paused, the forecast ignores the next run.
    """
    with context.engine.connect() as connection:
        planned = batches.count_planned(connection)
        on_their_way = len(catalog_jobs.open_jobs(connection))
        off = kill_switch.stops(connection)
    chain = context.settings.platform.chain
    waiting = sum(count for vendor, count in planned.items() if kill_switch.of_vendor(off, vendor, chain=chain))
    requests = Requests(sum(planned.values()) - waiting, others=0).total + 2 * on_their_way
    all_paused = kill_switch.of_vendor(off, None, chain=chain) is not None
    every_s = None if all_paused else context.settings.sync.delta_interval_s
    return dataclasses.replace(_limiter(context).forecast(requests, every_s=every_s), waiting=waiting)


def _limiter(context: Context) -> RateLimiter:
    return RateLimiter(context.limits, counted(context.settings), context.clock)


_LATELY = sa.text("interval '1 day'")
_NAMES = {"stop_sell": "stop-sells", "price": "price corrections", "catalog": "other changes"}


def freshness_of_run(connection: Connection, run_id: int) -> list[dict[str, Any]]:
    """A row a priority of one run: `{"priority", "jobs", "skus", "skus_beside", "seconds_median", "seconds_p95", "seconds_max"}`.

    The most urgent comes first. `skus_beside`: accepted SKUs that are less urgent and went in the same jobs.
    """
    return _freshness(connection, batch.c.run_id == run_id)


def freshness_lately(connection: Connection) -> list[dict[str, Any]]:
    """The same for all acknowledgements of the last 24 hours."""
    return _freshness(connection, job.c.ended_at > instant() - _LATELY)


def freshness_sentence(priority: dict[str, Any]) -> str:
    """One of these rows for people."""
    beside = f"; {priority['skus_beside']:,} less urgent SKUs went with them" if priority["skus_beside"] else ""
    return (
        f"{_NAMES[priority['priority']]}: {priority['skus']:,} SKUs in {priority['jobs']:,} jobs acknowledged {priority['seconds_median']:.0f} s after the"
        f" ERP was read, {priority['seconds_max']:.0f} s at most{beside}"
    )


def _freshness(connection: Connection, where: sa.ColumnElement[bool]) -> list[dict[str, Any]]:
    took_s = sa.extract("epoch", job.c.ended_at - batch.c.wanted_at)
    accepted = sa.func.coalesce(job.c.urgent_accepted, sa.func.least(batch.c.urgent_count, job.c.accepted))
    statement = (
        sa.select(
            batch.c.priority,
            sa.func.count().label("jobs"),
            sa.cast(sa.func.sum(accepted), sa.BigInteger).label("skus"),
            sa.cast(sa.func.sum(job.c.accepted - accepted), sa.BigInteger).label("skus_beside"),
            sa.func.percentile_cont(0.5).within_group(took_s).label("seconds_median"),
            sa.func.percentile_cont(0.95).within_group(took_s).label("seconds_p95"),
            sa.func.max(took_s).label("seconds_max"),
        )
        .join(job, job.c.batch_id == batch.c.batch_id)
        .where(where, job.c.state == State.ACKNOWLEDGED, accepted > 0, batch.c.wanted_at.is_not(None))
        .group_by(batch.c.priority)
        .order_by(sa.func.min(rank()))
    )
    rows = [dict(row) for row in connection.execute(statement).mappings()]
    return [
        {name: float(value) if name.startswith("seconds") else value for name, value in row.items()} for row in rows
    ]
