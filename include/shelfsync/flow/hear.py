"""What is known of a job's end: an event in the inbox, else the platform's own answer when it is time to ask."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from partner_api.errors import NotEnabledError, NotFoundError, PartnerError, UnexpectedAnswerError
from shelfsync import metrics
from shelfsync.errors import DataError
from shelfsync.flow import status_path
from shelfsync.flow.isolation import reason_of, stops_every_job
from shelfsync.inbox import events
from shelfsync.ledger import jobs

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts
    from shelfsync.inbox.events import JobEvent
    from shelfsync.ledger.exports import Export
    from shelfsync.ledger.jobs import Job

log = logging.getLogger(__name__)

ENDED = {"COMPLETED", "FAILED"}
TEXT_CHARACTERS_MAX = 8192
"""The longest text of an answer that is kept, as long as a link may be."""


@dataclass(frozen=True)
class ResultLink:
    """Where the job's file lies, and the event that says so; None: the platform's own answer."""

    url: str = field(repr=False)  # a presigned link is a secret in itself
    event_id: int | None


@dataclass(frozen=True)
class News:
    """What was heard of a job: `status` in the platform's words, links to its log (best first), per-SKU feedback."""

    status: str | None = None
    links: tuple[ResultLink, ...] = ()
    feedback: list[dict[str, Any]] | None = None

    @property
    def ended(self) -> bool:
        """A job has ended when the platform says so, or when its log is there."""
        return (self.status or "").upper() in ENDED or (self.status is None and bool(self.links))


def known(parts: Parts, job: Job | Export) -> News:
    """What inbox and ledger hold of this job; asks nobody. An event that cannot count is set aside and changes nothing."""
    if job.platform_job_id is None:
        return News()
    told = _believable(parts, job)
    event = told[0] if told else None
    links = {one.download_url: ResultLink(one.download_url, one.event_id) for one in told if one.download_url}
    if job.log_url:
        links.setdefault(job.log_url, ResultLink(job.log_url, None))
    status = event.status if event and (event.status or "").upper() in ENDED else job.platform_status
    if event is not None and event.download_url and (status or "").upper() not in ENDED:
        status = None  # a log that is there outweighs an older word that it is not
    return News(status, tuple(links.values()), job.feedback)


def _believable(parts: Parts, job: Job | Export) -> list[JobEvent]:
    """The events of this job that may count, the best first; each has a net of its own."""
    with parts.engine.connect() as connection:
        rows = events.of_job(connection, job.platform_job_id or "")
    found = []
    for row in rows:
        try:
            one = events.read_event(row)
            _check(parts, job, one)
        except Exception as error:
            if stops_every_job(error):
                raise
            aside(parts, row.event_id, reason_of(error))
        else:
            found.append(one)
    return events.best_first(found)


def _check(parts: Parts, job: Job | Export, one: JobEvent) -> None:
    """Raises where an event cannot be about this job, or leads where no download goes."""
    if job.after_event is not None and one.event_id <= job.after_event:
        raise DataError("it came before the request that its job belongs to was sent")
    if one.vendor not in {None, job.vendor}:
        raise DataError(f"it names vendor {one.vendor}, and its job is one of vendor {job.vendor}")
    if one.download_url is not None:
        parts.open_platform().check_link(one.download_url)


def aside(parts: Parts, event_id: int, reason: str) -> None:
    """Sets an event aside, where `shelfsync inbox list` shows it with its reason."""
    log.error("event %d is set aside: %s", event_id, reason)
    metrics.count("inbox.events.set_aside")
    with parts.engine.begin() as connection:
        events.set_aside(connection, event_id, reason)


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
            status=storable(answer.status),
            log_url=storable(answer.download_url),
            feedback=storable([item.raw for item in answer.feedback]) or None,
            poll_after_s=pause_s,
        )
        fresh = jobs.read(connection, job.job_id)
    return known(parts, fresh)


def storable(value: Any) -> Any:
    """What the platform answered, as a database holds it: no NUL, no half of a surrogate pair; exact numbers become text."""
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()[:TEXT_CHARACTERS_MAX]
    if isinstance(value, Mapping):
        return {storable(str(name)): storable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [storable(one) for one in value]
    return value if value is None or isinstance(value, bool | int) else str(value)


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
