"""report: closes a run and tells of it; settle: finishes what tasks and processes lost; status: where every promotion stands."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.flow.promotions.coherence import look
from shelfsync.flow.promotions.confirm import confirm
from shelfsync.flow.promotions.deliver import deliver
from shelfsync.flow.promotions.shown import STATE
from shelfsync.flow.promotions.wait import ask_those_due, waiting
from shelfsync.ledger import promotion_holds, promotion_jobs, promotion_rejections, promotion_runs, switches
from shelfsync.warehouse import promotions as record
from shelfsync.warehouse.promotion_findings import CAUSES

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts
    from shelfsync.flow.promotions.confirm import Confirmed
    from shelfsync.ledger.promotion_jobs import PromotionJob

_TROUBLES = ("refused", "unconfirmed")
_UNFINISHED = {
    "planned": "it has not left; promotions_settle sends it, or the next run what is wanted by then",
    "submitting": "it may have left and was not answered; promotions_settle sends the same again",
    "open": "the platform has not ended it; promotions_settle goes on asking",
}
"""What no person has stopped and is not done when the run is closed: nobody may take that for success (I16)."""


def report(parts: Parts, run_id: int) -> dict[str, Any]:
    """`{"run", "state", "error", "counts", "actions", "jobs", "pairs", "findings", "lines"}`; `lines` are for people."""
    findings = look(parts, run_id)
    with parts.engine.begin() as connection:
        run = promotion_runs.read(connection, run_id)
        paused = [str(stop) for stop in switches.stops(connection)]
        jobs = promotion_jobs.of_run(connection, run_id)
        troubles = [_trouble(job) for job in jobs if job.state in (_TROUBLES if paused else (*_TROUBLES, *_UNFINISHED))]
        state, error = _verdict(run, jobs, troubles)
        promotion_runs.close(connection, run_id, state=state, error=error)
        record.record_run(connection, run_id)
        pairs = _pairs(connection, run_id)
    told = run.told or {"counts": {}, "actions": [], "lines": []}
    summary = {
        "run": run_id,
        "key": run.run_key,
        "dry_run": run.dry_run,
        "state": state,
        "error": error,
        "counts": told["counts"],
        "actions": told["actions"],
        "jobs": dict(Counter(job.state for job in jobs)),
        "pairs": pairs,
        "findings": findings,
    }
    return {**summary, "lines": _lines(summary, [*paused, *troubles, *told["lines"]])}


def settle(parts: Parts) -> dict[str, Any]:
    """Asks about what is due, settles what has ended, sends what is planned or was lost, and looks once more; of every run.

    The look comes first: what the platform has ended is settled also when nothing can be sent, and ends that waited for it leave at once.

    Returns `{"delivered": n, "confirmed": n, "open": n, "failed": {campaign: why}}`.
    """
    before = _look(parts)
    sent = deliver(parts)
    after = _look(parts)
    with parts.engine.connect() as connection:
        left = len(promotion_jobs.open_jobs(connection))
    return {
        "delivered": sent.done,
        "confirmed": before.done + after.done,
        "open": left,
        "failed": {**before.failed, **sent.failed, **after.failed},
        "paused": sent.paused,
    }


def _look(parts: Parts) -> Confirmed:
    ask_those_due(parts, waiting(parts))
    return confirm(parts)


_STATUS = f"""
SELECT p.promotion_id, p.campaign, w.name, p.vendors, p.start_time, p.end_time, p.made_elsewhere, p.retry_at, coalesce(w.skus, 0) AS skus,
    {STATE.format(row="p")} AS state,
    (SELECT count(*) FROM ledger.promotion_job AS j
     WHERE j.promotion_id = p.promotion_id AND j.state IN ('planned', 'submitting', 'open')) AS in_flight,
    (SELECT count(*) FROM ledger.promotion_rejection AS r WHERE r.promotion_id = p.promotion_id) AS refused,
    (SELECT count(*) FROM warehouse.promotion_sku AS s WHERE s.promotion_id = p.promotion_id AND NOT s.known) AS doubtful
FROM ledger.promotion AS p LEFT JOIN warehouse.promotion AS w USING (promotion_id)
WHERE p.end_time > ledger.instant() - interval '7 days' AND (p.state <> 'ended' OR p.ended_at > ledger.instant() - interval '7 days')
ORDER BY p.start_time, p.campaign, p.promotion_id
"""  # noqa: S608
_CAUSES = """
SELECT cause, count(*) AS found, min(CASE WHEN sku = '' THEN message ELSE 'SKU ' || sku || ' at ' || vendor || ': ' || message END) AS example
FROM warehouse.promotion_finding GROUP BY cause ORDER BY cause
"""
_RUNS = """
SELECT run_id, state, dry_run, started_at, finished_at, created, changed, ended, held, rows_quarantined, error, run_key
FROM warehouse.promotion_run ORDER BY run_id DESC LIMIT 10
"""


def status(parts: Parts) -> dict[str, Any]:
    """`{"promotions", "held", "decided", "refused": {reason: pairs}, "findings": {cause: n}, "meanings", "runs", "paused"}`."""
    with parts.engine.connect() as connection:
        found = connection.execute(sa.text(_CAUSES)).mappings().all()
        return {
            "promotions": [dict(row) for row in connection.execute(sa.text(_STATUS)).mappings()],
            "held": promotion_holds.held(connection),
            "decided": promotion_holds.decided(connection),
            "refused": promotion_rejections.count_by_reason(connection),
            "findings": {row["cause"]: row["found"] for row in found},
            "meanings": [{**row, "meaning": CAUSES[row["cause"]]} for row in found],
            "runs": [dict(row) for row in connection.execute(sa.text(_RUNS)).mappings()],
            "paused": [str(stop) for stop in switches.stops(connection)],
        }


def _verdict(run: promotion_runs.PromotionRun, jobs: list[PromotionJob], troubles: list[str]) -> tuple[str, str | None]:
    if run.state == "superseded":
        return "superseded", run.error
    if run.planned_at is None:
        return "failed", "the plan was not made; see the log of the step before"
    if not troubles:
        return "succeeded", None
    every = len(troubles) == len(jobs)
    return "failed" if every else "partly_failed", f"{len(troubles)} of {len(jobs)} requests failed: {troubles[0]}"


def _trouble(job: PromotionJob) -> str:
    why = _UNFINISHED.get(job.state)
    said = job.error if why is None else why if job.error is None else f"{why} ({job.error})"
    return f"campaign {job.campaign}, {job.action}, job {job.job_id}: {job.state}: {said}"


def _pairs(connection: sa.engine.Connection, run_id: int) -> dict[str, int]:
    from shelfsync.ledger.promotion_tables import promotion_job as job

    names = ("sent", "accepted", "refused", "unaccounted")
    sums = [sa.cast(sa.func.coalesce(sa.func.sum(job.c[name]), 0), sa.BigInteger).label(name) for name in names]
    counted = sa.select(*sums).where(job.c.run_id == run_id, job.c.state.not_in(("planned", "superseded")))
    return dict(connection.execute(counted).mappings().one())


def _lines(summary: dict[str, Any], more: list[str]) -> list[str]:
    counts, pairs = summary["counts"], summary["pairs"]
    first = (
        f"promotions, run {summary['run']}{' (dry)' if summary['dry_run'] else ''}: {summary['state']}:"
        f" {counts.get('promotions', 0)} wanted, {counts.get('created', 0)} to make, {counts.get('changed', 0)} to change,"
        f" {counts.get('ended', 0)} to end, {counts.get('requests', 0)} requests,"
        f" {counts.get('held', 0)} pairs held, {counts.get('rows_quarantined', 0)} rows quarantined"
    )
    said = [first]
    if not summary["dry_run"] and counts.get("requests"):
        waits = pairs["sent"] - pairs["accepted"] - pairs["refused"] - pairs["unaccounted"]
        said.append(
            f"{pairs['sent']:,} pairs of SKU and vendor sent: {pairs['accepted']:,} accepted, {pairs['refused']:,} refused,"
            f" {pairs['unaccounted']:,} unaccounted, {waits:,} without an answer yet"
        )
    if summary["dry_run"]:
        said += [
            f"would {one['action']} campaign {one['campaign']} ({one['name']}): {one['skus']} SKUs at {one['vendors']} vendors, {one['requests']} requests"
            for one in summary["actions"]
        ]
    said += [f"{found} findings: {cause}" for cause, found in summary["findings"].items()]
    return said + more
