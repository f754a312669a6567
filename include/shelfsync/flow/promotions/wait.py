"""wait: asks about jobs when it is time, until each has ended or its deadline has passed. Sends nothing; may be stopped and started anywhere.

Nothing tells the end of a promotion's job (interface.md 6 lists no such event), so it is asked for, at a pace that doubles.
"""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from partner_api.errors import (
    NotEnabledError,
    NotFoundError,
    PartnerError,
    ThrottledError,
    UnavailableError,
    UnexpectedAnswerError,
)
from shelfsync.flow import status_path
from shelfsync.flow.hear import storable
from shelfsync.flow.isolation import ask_alone, reason_of, stops_every_job
from shelfsync.flow.wait import until_none
from shelfsync.ledger import promotion_jobs
from shelfsync.promotions.outcome import ENDED
from shelfsync.warehouse import promotions as record

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.promotion_jobs import PromotionJob

log = logging.getLogger(__name__)


async def until_settled(parts: Parts, run_id: int) -> dict[str, Any]:
    """Ends when no job of this run is worth waiting for. Counts only: the next step reads the ledger."""
    return await until_none(
        parts,
        partial(waiting, parts, run_id),
        partial(_ask_alone, parts),
        deadline_s=parts.settings.promotions.job_deadline_s,
    )


def waiting(parts: Parts, run_id: int | None = None) -> list[PromotionJob]:
    """Jobs the platform has taken and of whose end nothing is known; one whose answer was lost is the schedule's business."""
    with parts.engine.connect() as connection:
        found = promotion_jobs.open_jobs(connection, run_id=run_id)
    return [job for job in found if job.state == "open" and not job.overdue and not has_ended(job)]


def has_ended(job: PromotionJob) -> bool:
    """Whether the platform's last word was that it has ended."""
    return (job.platform_status or "").upper() in ENDED


def ask_those_due(parts: Parts, jobs: list[PromotionJob]) -> bool:
    """Asks about jobs whose time has come; True when at least one was asked."""
    due = [job for job in jobs if job.poll_due]
    for job in due:
        _ask_alone(parts, job)
    return bool(due)


def _ask_alone(parts: Parts, job: PromotionJob) -> bool:
    return ask_alone(
        job,
        partial(ask, parts),
        lambda it: _heard(parts, it, None, None),
        f"promotions, campaign {job.campaign}, job {job.job_id}",
    )


def ask_the_overdue(parts: Parts) -> None:
    """Asks once more about jobs past their deadline, before they are put in doubt: perhaps nobody was there to ask in time.

    Where the platform cannot be asked now they are left to the doubt, which is safe: the same is said again.
    """
    with parts.engine.connect() as connection:
        jobs = promotion_jobs.open_jobs(connection)
    for job in jobs:
        if job.state != "open" or not job.overdue or has_ended(job):
            continue
        try:
            ask(parts, job)
        except Exception as error:  # noqa: BLE001  whatever it is, the deadline ends this job and the others are asked about
            log.warning("promotions, wait: campaign %s, job %d: %s", job.campaign, job.job_id, reason_of(error))
            if isinstance(error, UnavailableError | ThrottledError) or stops_every_job(error):
                return


def ask(parts: Parts, job: PromotionJob) -> None:
    """One status call, charged to the budget; what it says is kept, its lists as a file of the lake.

    A platform without such a call is a normal thing (its path is not shown): then the job is unconfirmed at its deadline.
    """
    if status_path.is_absent(parts, of="promotion"):
        _heard(parts, job, None, None)
        return
    try:
        answer = parts.open_platform().promotion_status(str(job.platform_job_id), lane="promotion")
    except (NotEnabledError, NotFoundError, UnexpectedAnswerError) as error:
        log.info("promotions, wait: job %d: the platform does not tell its status: %s", job.job_id, error)
        _heard(parts, job, None, None)
        return
    except PartnerError as error:
        if not status_path.refuses(parts, error, of="promotion", overdue=job.overdue):
            raise
        log.warning(
            "promotions, wait: job %d: the platform took it and does not tell its status; it is asked again in an hour: %s",
            job.job_id,
            error,
        )
        _heard(parts, job, None, None)
        return
    status_path.found_present(parts, of="promotion")
    path = None
    if (answer.status or "").upper() in ENDED:
        lists = {
            "invalid_vendors": answer.invalid_vendors,
            "missing_skus": answer.missing_skus,
            "invalid_discounted_skus": answer.invalid_discounted_skus,
        }
        path = parts.lake.write_bytes("promotion_result", "all", ".json", json.dumps(lists).encode())
    _heard(parts, job, storable(answer.status), path)


def _heard(parts: Parts, job: PromotionJob, status: str | None, result_path: str | None) -> None:
    settings = parts.settings.promotions
    pause_s = min(settings.poll_max_s, settings.poll_first_s * 2.0 ** (min(job.polls, 30) + 1))
    with parts.engine.begin() as connection:
        promotion_jobs.heard(connection, job.job_id, status=status, result_path=result_path, poll_after_s=pause_s)
        record.record_job(connection, job.job_id)
