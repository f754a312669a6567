"""What is known of a job's end: an event in the inbox, else the platform's own answer when the next poll is due."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from partner_api.errors import NotEnabledError, NotFoundError, PartnerError, UnexpectedAnswerError
from shelfsync.platform.jobs import job as row
from shelfsync.platform.jobs.absent_status_call import PRESENT_S, found_absent, found_present, is_forbidden, status_call
from shelfsync.platform.jobs.ended_status import has_ended
from shelfsync.platform.jobs.job_event import believable, received
from shelfsync.storable import text as storable_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.context import Context
    from shelfsync.platform.jobs.absent_status_call import StatusCalls
    from shelfsync.platform.jobs.job import Answer, Job

log = logging.getLogger(__name__)

TEXT_CHARACTERS_MAX = 8192
"""The longest text of an answer that is stored, as long as a link may be."""


@dataclass(frozen=True)
class ResultLink:
    """Where the job's result is, and the event that reports it; None: the platform's own answer."""

    url: str = field(repr=False)  # a presigned link is a secret in itself
    event_id: int | None


@dataclass(frozen=True)
class Report:
    """What the platform reported of a job: `status` in its own terms, links to its result (best first), per-SKU feedback."""

    status: str | None = None
    links: tuple[ResultLink, ...] = ()
    feedback: list[dict[str, Any]] | None = None
    ended: bool = False
    """The platform reports the end, or the result is there."""
    at_work: bool = False
    """The platform's status call has just returned that the job has not ended, whatever an event reports."""


def known(context: Context, job: Job, rows: Sequence[Any] | None = None) -> Report:
    """What inbox and ledger have of this job; sends nothing. An event that cannot count is quarantined and changes nothing.

    `rows`: its events, if they are read already.
    """
    kind = context.kinds[job.kind]
    if job.platform_job_id is None:
        return Report()
    if rows is None:
        with context.engine.connect() as connection:
            rows = received(context, connection, job)
    believed = believable(context, job, rows)
    event = believed[0] if believed else None
    links = {each.download_url: ResultLink(each.download_url, each.event_id) for each in believed if each.download_url}
    if job.result_url:
        links.setdefault(job.result_url, ResultLink(job.result_url, None))
    status = event.status if event and (event.status or "").upper() in kind.ended else job.platform_status
    if event is not None and event.download_url and (status or "").upper() not in kind.ended:
        status = None  # a link to the log takes precedence over an older report without it
    ended = has_ended(kind, status, linked=bool(links))
    feedback = job.feedback
    if feedback is None and event is not None and isinstance(event.feedback, list):
        feedback = storable(event.feedback)
    return Report(status, tuple(links.values()), feedback, ended)


def poll(context: Context, job: Job, *, rows: Sequence[Any] | None = None, calls: StatusCalls | None = None) -> Report:
    """Sends one status call, charged to the rate limit, and stores its answer; the back-off of the next one grows.

    A platform without such a call is a normal thing (the interface promises none): then only an event ends the job, or its deadline.
    A PartnerError is raised where the call failed and may succeed later. `rows`: its events, as for `known`.
    """
    kind = context.kinds[job.kind]
    if job.platform_job_id is None:
        return known(context, job)
    calls = {} if calls is None else calls
    call = calls.pop(job.kind, None)
    if call is None and kind.has_status_call(context.settings):
        call = status_call(context, job.kind)
    if call is None or call.absent:
        postpone(context, job)
        return known(context, job, rows)
    try:
        answer = kind.status(context.open_platform(), job)
    except (NotFoundError, NotEnabledError, UnexpectedAnswerError) as error:
        log.info("poll: %s: the platform does not report its status: %s", job.name, error)
        if kind.not_found_is_absent and not call.worked and isinstance(error, NotFoundError | NotEnabledError):
            found_absent(context, of=job.kind)
        postpone(context, job)
        return known(context, job, rows)
    except PartnerError as error:
        if not is_forbidden(context, error, call, of=job.kind, overdue=job.overdue) or job.overdue:
            raise
        log.warning(
            "poll: %s: the platform accepted it and does not report its status. shelfsync takes that for a call that the platform does"
            " not have and polls again in an hour; an event or the deadline ends the job: %s",
            job.name,
            error,
        )
        postpone(context, job)
        return known(context, job, rows)
    now_and_then = call.present_s >= PRESENT_S / 30
    calls[job.kind] = replace(call, present_s=0.0) if now_and_then else call
    return _store(context, job, answer, rows, works=now_and_then)


def _store(context: Context, job: Job, answer: Answer, rows: Sequence[Any] | None, *, works: bool) -> Report:
    """Stores the answer; returns what is known of the job with it. `works`: stores that the status call works, too."""
    kind = context.kinds[job.kind]
    path = None
    if answer.result is not None:
        path = context.lake.write_bytes(f"{job.kind}_result", "all", ".json", answer.result)
    news = {
        "platform_status": storable(answer.status),
        "result_url": storable(answer.result_url),
        "feedback": storable(answer.feedback) or None,
        "result_path": path,
    }
    news = {name: value for name, value in news.items() if value is not None}
    pause_s = kind.pace(context.settings).pause_s(job.polls)
    with context.engine.begin() as connection:
        waits = row.reported(connection, job.job_id, poll_after_s=pause_s, **news)
        if works:
            found_present(context, connection, of=job.kind)
        now = replace(job, **news) if waits else kind.read(connection, job.job_id)
        rows = received(context, connection, now) if rows is None else rows
    report = known(context, now, rows)
    linked = bool(answer.result_url or report.links)
    return replace(report, at_work=answer.status is not None and not has_ended(kind, answer.status, linked=linked))


def postpone(context: Context, job: Job) -> None:
    """A poll failed, or there is nothing to poll: the next one is due as after an answer."""
    pause_s = context.kinds[job.kind].pace(context.settings).pause_s(job.polls)
    with context.engine.begin() as connection:
        row.reported(connection, job.job_id, poll_after_s=pause_s)


def storable(value: Any) -> Any:
    """What the platform answered, as a database holds it: no NUL, no half of a surrogate pair; exact numbers become text."""
    if isinstance(value, str):
        return storable_text(value[:TEXT_CHARACTERS_MAX])
    if isinstance(value, Mapping):
        return {storable(str(name)): storable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [storable(part) for part in value]
    return value if value is None or isinstance(value, bool | int) else str(value)
