"""What is known of a job's end: an event in the inbox, else the platform's own answer when it is time to ask."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from partner_api.errors import NotEnabledError, NotFoundError, PartnerError, UnexpectedAnswerError
from shelfsync.flow import status_path
from shelfsync.inbox import events
from shelfsync.ledger import jobs

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.exports import Export
    from shelfsync.ledger.jobs import Job

log = logging.getLogger(__name__)

ENDED = {"COMPLETED", "FAILED"}


@dataclass(frozen=True)
class News:
    """What was heard of a job: `status` in the platform's words, links to its log (best first), per-SKU feedback."""

    status: str | None = None
    log_urls: tuple[str, ...] = field(default=(), repr=False)  # a presigned link is a secret in itself
    feedback: list[dict[str, Any]] | None = None

    @property
    def ended(self) -> bool:
        """A job has ended when the platform says so, or when its log is there."""
        return (self.status or "").upper() in ENDED or (self.status is None and bool(self.log_urls))


def known(parts: Parts, job: Job | Export) -> News:
    """What inbox and ledger hold of this job; asks nobody."""
    if job.platform_job_id is None:
        return News()
    with parts.engine.connect() as connection:
        event = events.job_event(connection, job.platform_job_id)
    if event is not None and event.vendor not in {None, job.vendor}:
        log.error(
            "confirm: job %d of vendor %s: an event names vendor %s; it is not believed",
            job.job_id,
            job.vendor,
            event.vendor,
        )
        event = None
    links = [link for link in (event.download_url if event else None, job.log_url) if link]
    status = event.status if event and (event.status or "").upper() in ENDED else job.platform_status
    if event is not None and event.download_url and (status or "").upper() not in ENDED:
        status = None  # a log that is there outweighs an older word that it is not
    return News(status, tuple(dict.fromkeys(links)), job.feedback)


def ask(parts: Parts, job: Job) -> News:
    """One status call, charged to the budget; what it says is kept, and the next one comes later each time.

    A platform without such a call is a normal thing (the interface promises none): then only the webhook tells.
    """
    if job.platform_job_id is None or not parts.settings.platform.job_status_path:
        return known(parts, job)
    sync = parts.settings.sync
    pause_s = min(sync.poll_max_s, sync.poll_first_s * 2.0 ** (job.polls + 1))
    if status_path.is_absent(parts):
        later(parts, job)
        return known(parts, job)
    try:
        answer = parts.open_platform().job_status(job.platform_job_id, lane=job.lane)
    except (NotFoundError, NotEnabledError, UnexpectedAnswerError) as error:
        log.info("confirm: job %d: the platform does not tell its status: %s", job.job_id, error)
        if isinstance(error, NotFoundError | NotEnabledError):
            status_path.found_absent(parts)
        later(parts, job)
        return known(parts, job)
    except PartnerError as error:
        if not status_path.refuses(parts, error, overdue=job.overdue) or job.overdue:
            raise
        log.warning(
            "confirm: job %d: the platform took it and does not tell its status, which is taken for a call that it does not have"
            " and asked for again in an hour; the webhook tells, or the deadline ends it: %s",
            job.job_id,
            error,
        )
        later(parts, job)
        return known(parts, job)
    status_path.found_present(parts)
    with parts.engine.begin() as connection:
        jobs.heard(
            connection,
            job.job_id,
            status=answer.status,
            log_url=answer.download_url,
            feedback=[dict(item.raw) for item in answer.feedback] or None,
            poll_after_s=pause_s,
        )
        fresh = jobs.read(connection, job.job_id)
    return known(parts, fresh)


def later(parts: Parts, job: Job) -> None:
    """Asking failed: the next question waits as if it had been answered."""
    sync = parts.settings.sync
    with parts.engine.begin() as connection:
        jobs.heard(
            connection,
            job.job_id,
            status=job.platform_status,
            log_url=None,
            feedback=None,
            poll_after_s=min(sync.poll_max_s, sync.poll_first_s * 2.0 ** (job.polls + 1)),
        )
