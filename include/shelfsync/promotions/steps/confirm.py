"""confirm: only the platform's result of a pair moves the acknowledged state (I2). Without a result, the pair is unconfirmed (I7)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shelfsync.platform.jobs.job import database_is_away, reason_of
from shelfsync.platform.jobs.job_event import received_of
from shelfsync.platform.jobs.poll import known
from shelfsync.platform.jobs.table import Kind, State
from shelfsync.platform.jobs.wait import poll_overdue
from shelfsync.promotions.ledger import jobs as promotion_jobs
from shelfsync.promotions.steps.acknowledge import acknowledge
from shelfsync.vendors.lease import LeaseLostError
from shelfsync.vendors.step_report import Skip
from shelfsync.vendors.under_lease import TAKEN_WAIT_S, holding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.context import Context
    from shelfsync.promotions.ledger.jobs import PromotionJob
    from shelfsync.vendors.lease import Lease

log = logging.getLogger(__name__)

ALONE = "*promotions*"
"""The lease of a process that sends or confirms promotions: no two do so at once. Each vendor has a lease of its own besides."""
_JOBS, _SKUS = 200, 100_000
"""At most so many jobs, and about so many SKUs, are confirmed in one transaction."""


@dataclass
class Confirmed:
    """The result of one round: jobs confirmed, jobs left open, and failures by campaign."""

    done: int = 0
    left: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {"step": "confirm", "done": self.done, "left": self.left, "failed": self.failed}


def confirm(context: Context) -> Confirmed:
    """Confirms every ended job of every run. A job past its deadline is polled once more; if it has not ended, it is unconfirmed."""
    report = Confirmed()
    poll_overdue(context, Kind.PROMOTION)
    try:
        with holding(context, ALONE, wait_s=TAKEN_WAIT_S) as lease:
            _confirm_all(context, lease, report)
    except Skip as skip:
        log.info("promotions, confirm: %s", skip)
    return report


def _confirm_all(context: Context, lease: Lease, report: Confirmed) -> None:
    with context.engine.connect() as connection:
        jobs = promotion_jobs.open_jobs(connection)
        events = received_of(context, connection, jobs)
    ended: list[PromotionJob] = []
    over: dict[int, str | None] = {}
    for job in jobs:
        if job.state == State.OPEN and known(context, job, events[job.job_id]).ended:
            over[job.job_id] = None
        elif job.overdue:
            over[job.job_id] = _why_unconfirmed(job)
        else:
            report.left += 1
            continue
        ended.append(job)
    for chunk in _chunks(ended):
        together = len(chunk) > 1 and _together(context, lease, {job.job_id: over[job.job_id] for job in chunk})
        for job in chunk:
            if together or _alone(context, lease, job, over[job.job_id], report):
                report.done += 1
                if over[job.job_id] is not None:
                    report.failed[job.campaign] = f"job {job.job_id}: {over[job.job_id]}"


def _chunks(jobs: list[PromotionJob]) -> Iterator[list[PromotionJob]]:
    """The jobs in their order, in parts that have each promotion once: what one job of it moves is what the next one is judged by."""
    part: dict[int, PromotionJob] = {}
    skus = 0
    for job in jobs:
        if job.promotion_id in part or len(part) == _JOBS or (part and skus + job.skus > _SKUS):
            yield list(part.values())
            part, skus = {}, 0
        part[job.promotion_id] = job
        skus += job.skus
    if part:
        yield list(part.values())


def _together(context: Context, lease: Lease, endings: dict[int, str | None]) -> bool:
    """False: at least one of these jobs cannot be confirmed, and nothing was written."""
    try:
        acknowledge(context, lease, endings)
    except Exception as error:  # which job it is, each of them alone shows
        if isinstance(error, LeaseLostError) or database_is_away(error):
            raise
        log.warning("promotions, confirm: %d jobs cannot be confirmed together: %s", len(endings), reason_of(error))
        return False
    return True


def _alone(context: Context, lease: Lease, job: PromotionJob, why: str | None, report: Confirmed) -> bool:
    try:
        acknowledge(context, lease, {job.job_id: why})
    except LeaseLostError:
        raise
    except Exception as error:  # one promotion stops no other (I10)
        if database_is_away(error):
            raise
        log.error("promotions, confirm: campaign %s, job %d: %s", job.campaign, job.job_id, reason_of(error))  # noqa: TRY400
        report.failed[job.campaign] = reason_of(error)
        if why is None and job.overdue:
            _end_overdue(context, lease, job, error)
        return False
    return True


def _end_overdue(context: Context, lease: Lease, job: PromotionJob, trouble: Exception) -> None:
    """Ends a job past its deadline whose result cannot be read, for any error."""
    try:
        acknowledge(context, lease, {job.job_id: f"its result cannot be used: {reason_of(trouble)}"})
    except Exception as error:
        if isinstance(error, LeaseLostError) or database_is_away(error):
            raise
        log.error("promotions, confirm: job %d cannot be ended: %s", job.job_id, reason_of(error))  # noqa: TRY400


def _why_unconfirmed(job: PromotionJob) -> str:
    if job.state == State.SUBMITTING:
        return "its answer was lost, and its deadline has passed; it will be sent again"
    return (
        f"the platform has not ended it before its deadline (last status: {job.platform_status}); it will be sent again"
    )
