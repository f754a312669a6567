"""The state of a job (interface.md 4.6), and its files: logs and exports (5.5), safe against any link and any host (I12, I13)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urljoin

from partner_api import answers, links, reading
from partner_api.errors import (
    DownloadBrokenError,
    LinkExpiredError,
    LinkNotAllowedError,
    NotEnabledError,
    PartnerError,
    UnavailableError,
    UnexpectedAnswerError,
)
from partner_api.exchange import Call, exchange, judged
from partner_api.models.job import JobStatus
from partner_api.receivers import Saved

if TYPE_CHECKING:
    from partner_api.links import Link
    from partner_api.reading import Raw
    from partner_api.session import Session
    from partner_api.wire import Answer


def job_status(session: Session, job_id: str, *, priority: str = "catalog") -> JobStatus:
    """The state of a job of any kind except promotions.

    NotEnabledError: the dialect has no such call. NotFoundError: no such job, or no such path, which a platform may lack.
    """
    call = status_call(session, "job_status", session.dialect.job_status_path, job_id, priority)
    answer = judged(session, call)
    body = answers.body_of(answer, call, session)
    confirm_job(session, job_id, body, call, answer)
    return JobStatus.read(job_id, body)


def confirm_job(session: Session, job_id: str, body: Raw, call: Call, answer: Answer) -> None:
    """Raises UnexpectedAnswerError if the answer is about another job than the requested one."""
    named = reading.text(body, "job_id", "jobId")
    if named is not None and named != job_id:
        raise UnexpectedAnswerError(
            f"the client requested job {job_id} and {named[:80]!r} came", **answers.of(answer, call, session)
        )


def status_call(session: Session, operation: str, path: str, job_id: str, priority: str) -> Call:
    """The GET of a job's status at this path of the dialect."""
    if not path:
        raise NotEnabledError(
            "the dialect has no path for it",
            operation=operation,
            remedy="Wait for the webhook, or set the path in the dialect",
        )
    return Call(operation, priority, (), "GET", session.url(path, job_id=job_id), safe_to_repeat=True)


DEAD = frozenset({401, 403, 404, 410})


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A whole file. `bytes` and `sha256` (hex) are of what was written, that is expanded; `wire_bytes` came over the wire."""

    bytes: int
    sha256: str
    wire_bytes: int


def download(session: Session, url: str, file: BinaryIO, *, priority: str = "catalog") -> Downloaded:
    """Writes the file behind a link, gzip expanded. After any error the caller discards the file.

    Only the platform's own host receives the token. LinkNotAllowedError: the address is not allowed, and the client sent nothing.
    LinkExpiredError, DownloadTooLargeError, DownloadBrokenError: see there.
    """
    link = checked(session, url)
    receivers: list[Saved] = []
    for _ in range(session.limits.redirects_max + 1):
        call = _call(session, link, priority, partial(_saved, session, file, receivers))
        answer = exchange(session, call)
        if answer.status in {301, 302, 303, 307, 308}:
            link = _next(session, link, answer)
            continue
        if answer.status == 200:
            saved = receivers[-1]
            return Downloaded(saved.written_bytes, saved.sha256, saved.wire_bytes)
        if 200 <= answer.status < 300:
            raise DownloadBrokenError("not the whole file came", operation="download", status=answer.status)
        raise _error(session, call, link, answer)
    raise DownloadBrokenError(
        f"{link.authority} redirects more than {session.limits.redirects_max} times", operation="download"
    )


def checked(session: Session, url: str) -> Link:
    """The parsed link; LinkNotAllowedError if a download may not go there. Sends nothing."""
    try:
        link = links.parse(url)
        session.policy.check(link)
    except LinkNotAllowedError as error:
        raise LinkNotAllowedError(error.message, operation="download", remedy=error.remedy) from None
    return link


def _call(session: Session, link: Link, priority: str, receiver: partial[Saved]) -> Call:
    to_platform = session.policy.carries_token(link)
    address = None
    if session.resolve is not None:
        try:
            addresses = session.resolve(link.host, link.port)
        except (OSError, UnicodeError):
            raise UnavailableError(f"{link.host} has no address now", operation="download") from None
        try:
            address = session.policy.choose(link, addresses)
        except LinkNotAllowedError as error:
            raise LinkNotAllowedError(error.message, operation="download", remedy=error.remedy) from None
    return Call(
        operation="download",
        priority=priority,
        vendors=(),
        method="GET",
        url=link.url,
        headers={"Accept": "*/*"},
        safe_to_repeat=True,
        bearer=to_platform,
        to_platform=to_platform,
        connect_to=address,
        deadline_s=session.limits.total_s + session.timeout_s,
        receiver=receiver,
    )


def _saved(session: Session, file: BinaryIO, receivers: list[Saved]) -> Saved:
    """A receiver for one attempt."""
    receivers.append(Saved(file, session.limits, session.clock.monotonic_s))
    return receivers[-1]


def _next(session: Session, link: Link, answer: Answer) -> Link:
    """The target of a redirect, checked like the first link; LinkNotAllowedError if it is on another host."""
    location = str(answer.headers.get("location", ""))
    try:
        target = urljoin(link.url, location)
    except ValueError:
        target = ""
    following = checked(session, target)
    if following.origin != link.origin:
        raise LinkNotAllowedError(
            f"{link.authority} redirects to another host, {following.authority}",
            operation="download",
            status=answer.status,
        )
    return following


def _error(session: Session, call: Call, link: Link, answer: Answer) -> PartnerError:
    error = answers.error(answer, call, session)
    if answer.status in DEAD and not (call.to_platform and answers.is_block(answer)):
        return LinkExpiredError(
            f"{link.authority} no longer serves the file",
            operation="download",
            status=answer.status,
            request_id=error.request_id,
            body_excerpt=error.body_excerpt,
        )
    return error
