"""report: closes a run of the promotions and reports it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.errors import some_of
from shelfsync.platform import kill_switch
from shelfsync.platform.jobs.table import State, job
from shelfsync.promotions.ledger import jobs as promotion_jobs
from shelfsync.promotions.ledger import runs as promotion_runs
from shelfsync.promotions.ledger.tables import promotion_request
from shelfsync.promotions.outcome import INVALID_VENDOR
from shelfsync.promotions.steps import holds
from shelfsync.promotions.warehouse import record
from shelfsync.promotions.warehouse.findings import look

if TYPE_CHECKING:
    from shelfsync.context import Context
    from shelfsync.promotions.ledger.jobs import PromotionJob


_TROUBLES = (State.REJECTED, State.UNCONFIRMED)
_UNFINISHED = {
    State.PLANNED: "it has not left; promotions_recover sends it, or the next run what is wanted by then",
    State.SUBMITTING: "it may have left and was not answered; promotions_recover sends the same again",
    State.OPEN: "the platform has not ended it; promotions_recover goes on asking",
}
"""Requests that are not done when the run is closed, although no operator paused them: not a success (I16)."""
_REJECTED = """
SELECT o.vendor, o.reason, count(DISTINCT q.promotion_id) AS promotions, count(*) AS pairs
FROM warehouse.promotion_job AS q JOIN warehouse.promotion_outcome AS o USING (job_id)
WHERE q.run_id = :run AND o.state = 'rejected' AND o.vendor <> '*' GROUP BY o.vendor, o.reason ORDER BY pairs DESC, o.vendor, o.reason
"""
JUDGED_PAIRS = 20
"""A run that sent fewer is no failure if all are rejected: one new campaign may be wrong."""
_REJECTED_MAX = 50
"""Vendors and reasons in the report of a run, which is an XCom in Airflow; `status` has all."""


def report(context: Context, run_id: int) -> dict[str, Any]:
    """`{"run", "state", "error", "counts", "actions", "jobs", "pairs", "rejected_by_vendor", "findings", "lines"}`; `lines` are for people.

    `rejected_by_vendor` are the pairs that the platform rejected in this run, by vendor and reason. If it does not know a vendor, the run is
    partly failed.
    """
    findings = look(context, run_id)
    with context.engine.begin() as connection:
        run = promotion_runs.read(connection, run_id)
        paused = kill_switch.lines(connection)
        jobs = promotion_jobs.of_run(connection, run_id)
        troubles = [_trouble(job) for job in jobs if job.state in (_TROUBLES if paused else (*_TROUBLES, *_UNFINISHED))]
        pairs = _pairs(connection, run_id)
        rejected_by_vendor = [dict(row) for row in connection.execute(sa.text(_REJECTED), {"run": run_id}).mappings()]
        state, error = _verdict(run, jobs, troubles, rejected_by_vendor, pairs)
        promotion_runs.close(connection, run_id, state=state, error=error)
        record.RUN.copy(connection, [run_id])
        waits = None if run.dry_run else holds.waits(connection)
    report = run.report or {"counts": {}, "actions": [], "lines": []}
    summary = {
        "run": run_id,
        "key": run.run_key,
        "dry_run": run.dry_run,
        "state": state,
        "error": error,
        "counts": report["counts"],
        "forecast": report.get("forecast"),
        "reasons": report.get("reasons", {}),
        "waiting": report.get("waiting"),
        "waits": report.get("waits") if run.dry_run else waits,
        "actions": report["actions"],
        "jobs": dict(Counter(job.state for job in jobs)),
        "unfinished": sum(job.state in _UNFINISHED for job in jobs),
        "pairs": pairs,
        "rejected_by_vendor": rejected_by_vendor[:_REJECTED_MAX],
        "findings": findings,
    }
    return {
        **summary,
        "lines": _lines(summary, [*paused, *troubles, *rejection_lines(rejected_by_vendor), *report["lines"]]),
    }


def _verdict(
    run: promotion_runs.PromotionRun,
    jobs: list[PromotionJob],
    troubles: list[str],
    rejected_by_vendor: list[dict[str, Any]],
    pairs: dict[str, int],
) -> tuple[str, str | None]:
    if run.state == "superseded":
        return "superseded", run.error
    if run.planned_at is None:
        return "failed", run.error or "the plan was not made; see the log of the step before"
    if troubles:
        every = len(troubles) == len(jobs)
        return "failed" if every else "partly_failed", f"{len(troubles)} of {len(jobs)} requests failed: {troubles[0]}"
    if why := _why_rejected(rejected_by_vendor, pairs):
        return "partly_failed" if pairs["accepted"] else "failed", why
    left_out = _left_out(run.report or {})
    return "succeeded" if left_out is None else "partly_failed", left_out


def _left_out(report: dict[str, Any]) -> str | None:
    """What the plan left out and why: vendors that could not be read, or campaigns of which no request can be made now; None: nothing."""
    for key, what in (("unread", "vendors could not be read"), ("unplanned", "campaigns could not be planned")):
        if found := report.get(key):
            name, why = next(iter(found.items()))
            return f"{len(found)} {what} ({some_of(found)}): {name}: {why}"
    return None


def _why_rejected(rejected_by_vendor: list[dict[str, Any]], pairs: dict[str, int]) -> str | None:
    """Why the rejections are a failure of the run: a vendor is unknown, or of `JUDGED_PAIRS` or more none was accepted. None: they are none."""
    if unknown := [row for row in rejected_by_vendor if row["reason"] == INVALID_VENDOR]:
        named = some_of([row["vendor"] for row in unknown])
        return (
            f"the platform does not know {len(unknown)} vendors ({named}) and rejected all {sum(row['pairs'] for row in unknown):,} pairs of them;"
            " `shelfsync check` compares the vendors of the ERP and the platform"
        )
    if pairs["rejected"] < max(pairs["sent"], JUDGED_PAIRS):
        return None
    most = "".join(f", such as at {row['vendor']}: {row['reason']}" for row in rejected_by_vendor[:1])
    return f"the platform rejected all {pairs['sent']:,} pairs{most}"


def rejection_lines(rejected_by_vendor: list[dict[str, Any]]) -> list[str]:
    """A line for each reason of rejected pairs (rows of vendor, reason and pairs), with the vendors."""
    by_reason: dict[str, list[dict[str, Any]]] = {}
    for row in rejected_by_vendor:
        by_reason.setdefault(row["reason"], []).append(row)
    return [
        f"rejected: {sum(row['pairs'] for row in rows):,} pairs: {reason}, at vendors "
        + some_of([f"{row['vendor']} ({row['pairs']:,})" for row in rows])
        for reason, rows in by_reason.items()
    ]


def _trouble(job: PromotionJob) -> str:
    why = _UNFINISHED.get(job.state)
    reason = job.error if why is None else why if job.error is None else f"{why} ({job.error})"
    return f"campaign {job.campaign}, {job.action}, job {job.job_id}: {job.state}: {reason}"


def _pairs(connection: sa.engine.Connection, run_id: int) -> dict[str, int]:
    names = ("sent", "accepted", "rejected", "unaccounted")
    sums = [sa.cast(sa.func.coalesce(sa.func.sum(job.c[name]), 0), sa.BigInteger).label(name) for name in names]
    of_run = sa.select(*sums).join(promotion_request, promotion_request.c.request_id == job.c.request_id)
    counted = of_run.where(promotion_request.c.run_id == run_id, job.c.state.not_in((State.PLANNED, State.SUPERSEDED)))
    return dict(connection.execute(counted).mappings().one())


def _lines(summary: dict[str, Any], more: list[str]) -> list[str]:
    counts, pairs = summary["counts"], summary["pairs"]
    first = (
        f"promotions, run {summary['run']}{' (dry)' if summary['dry_run'] else ''}: {summary['state']}:"
        f" {counts.get('promotions', 0)} wanted, {counts.get('created', 0)} to make, {counts.get('changed', 0)} to change,"
        f" {counts.get('ended', 0)} to end, {counts.get('requests', 0)} requests,"
        f" {counts.get('held', 0)} pairs held, {counts.get('rows_quarantined', 0)} rows quarantined"
    )
    lines = [first]
    if not summary["dry_run"] and counts.get("requests"):
        waits = pairs["sent"] - pairs["accepted"] - pairs["rejected"] - pairs["unaccounted"]
        lines.append(
            f"{pairs['sent']:,} pairs of SKU and vendor sent: {pairs['accepted']:,} accepted, {pairs['rejected']:,} rejected,"
            f" {pairs['unaccounted']:,} unaccounted, {waits:,} without an answer yet"
        )
    if summary["dry_run"]:
        lines += [
            f"would {action['action']} campaign {action['campaign']} ({action['name']}): {action['skus']} SKUs at {action['vendors']} vendors, {action['requests']} requests"
            + (f", {action['window']}" if action["window"] else "")
            for action in summary["actions"]
        ]
    lines += [f"{count} findings: {cause}" for cause, count in summary["findings"].items()]
    return lines + more
