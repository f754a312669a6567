"""Where a job stands (interface.md 4.6; the path is of the field notes, and its absence is normal)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partner_api import answers, reading
from partner_api.errors import NotEnabledError, UnexpectedAnswerError
from partner_api.exchange import Call, judged
from partner_api.models.job import JobStatus

if TYPE_CHECKING:
    from partner_api.reading import Raw
    from partner_api.session import Session
    from partner_api.wire import Answer, Steps


def job_status(session: Session, job_id: str, *, lane: str = "catalog") -> Steps[JobStatus]:
    """One look at a job of any kind but promotions.

    NotEnabledError where the dialect has no such call; NotFoundError: no such job, or no such path, as a platform need not have it.
    """
    call = status_call(session, "job_status", session.dialect.job_status_path, job_id, lane)
    answer = yield from judged(session, call)
    body = answers.body_of(answer, call, session)
    confirm_job(session, job_id, body, call, answer)
    return JobStatus.read(job_id, body)


def confirm_job(session: Session, job_id: str, body: Raw, call: Call, answer: Answer) -> None:
    """Refuses an answer about another job than was asked for."""
    named = reading.text(body, "job_id", "jobId")
    if named is not None and named != job_id:
        raise UnexpectedAnswerError(
            f"job {job_id} was asked for and {named[:80]!r} came", **answers.of(answer, call, session)
        )


def status_call(session: Session, operation: str, path: str, job_id: str, lane: str) -> Call:
    """The GET of a job's status at this path of the dialect."""
    if not path:
        raise NotEnabledError(
            "the dialect has no path for it",
            operation=operation,
            remedy="Wait for the webhook, or set the path in the dialect",
        )
    return Call(operation, lane, "GET", session.url(path, job_id=job_id), harmless=True)
