"""Asynchronous work of the platform (interface.md 2.2, 4.6), and its files: logs and exports (5.5), safe against any link and any host (I12, I13)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urljoin

from partner_api import answers, json_values, links
from partner_api.call import Call
from partner_api.errors import (
    DownloadBrokenError,
    LinkExpiredError,
    LinkNotAllowedError,
    NotEnabledError,
    PartnerError,
    UnavailableError,
    UnexpectedAnswerError,
)
from partner_api.exchange import exchange, judged
from partner_api.receivers import Saved

if TYPE_CHECKING:
    from partner_api.dialect import DownloadLimits
    from partner_api.json_values import Raw
    from partner_api.links import Link
    from partner_api.sender import Answer
    from partner_api.session import Session


FINISHED = frozenset({"COMPLETED", "FAILED", "DUPLICATE"})


@dataclass(frozen=True, slots=True)
class Job:
    """The receipt of accepted work: the platform has done nothing yet, and a completed job may still reject items.

    `job_id` and `status` are None only if the platform did the work at once (an older form answers 200 {sku}).
    """

    job_id: str | None
    status: str | None
    duplicated_products: tuple[str, ...] = ()
    raw: Raw = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, raw: Raw) -> Job:
        return cls(
            json_values.identifier(raw, "job_id", "jobId", "id"),
            job_state(raw),
            json_values.texts(raw.get("duplicated_products") or []),
            raw,
        )


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why the platform rejected an item, in its own text."""

    data: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ItemFeedback:
    """The result of one item in the status call."""

    sku: str | None
    status: str | None
    rejections: tuple[Rejection, ...]
    raw: Raw = field(repr=False)

    @classmethod
    def read(cls, raw: Raw) -> ItemFeedback:
        rejections = tuple(
            Rejection(json_values.text(entry, "rejected_data"), json_values.text(entry, "rejected_reason"))
            for entry in json_values.mappings(raw.get("rejection_reasons"))
        )
        return cls(json_values.text(raw, "sku"), json_values.text(raw, "status", "state"), rejections, raw)


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The state of a job. `status` is upper case and may be a value unknown to the client; `job_id` is the requested one."""

    job_id: str
    status: str | None
    download_url: str | None = field(repr=False)
    feedback: tuple[ItemFeedback, ...]
    duplicated_products: tuple[str, ...]
    raw: Raw = field(repr=False)

    @classmethod
    def read(cls, job_id: str, raw: Raw) -> JobStatus:
        result = json_values.mapping(raw.get("result"))
        feedback = result.get("item_level_feedback", raw.get("item_level_feedback"))
        duplicated = result.get("duplicated_products", raw.get("duplicated_products")) or []
        return cls(
            job_id,
            job_state(raw),
            json_values.text(raw, "download_url", "downloadURL", "downloadUrl")
            or json_values.text(result, "download_url", "downloadURL", "downloadUrl"),
            tuple(ItemFeedback.read(entry) for entry in json_values.mappings(feedback)),
            json_values.texts(duplicated),
            raw,
        )

    @property
    def is_finished(self) -> bool:
        """Whether the platform has finished the job. A completed job may contain rejected items."""
        return self.status in FINISHED


def job_state(raw: Raw) -> str | None:
    """A job's state under either name, in upper case."""
    value = json_values.text(raw, "job_status", "status")
    return value.upper() if value else None


def job_status(session: Session, job_id: str, *, priority: str = "catalog") -> JobStatus:
    """The state of a job of any kind except promotions.

    NotEnabledError: the dialect has no such call. NotFoundError: no such job, or no such path, which a platform may lack.
    """
    path = session.dialect.job_status_path
    return JobStatus.read(job_id, status_body(session, "job_status", path, job_id, priority))


def status_body(session: Session, operation: str, path: str, job_id: str, priority: str) -> Raw:
    """What the GET of a job's status at this path of the dialect returns; UnexpectedAnswerError if it is about another job."""
    if not path:
        raise NotEnabledError(
            "the dialect has no path for it",
            operation=operation,
            remedy="Wait for the webhook, or set the path in the dialect",
        )
    call = Call(operation, priority, (), "GET", session.url(path, job_id=job_id), safe_to_repeat=True)
    answer = judged(session, call)
    body = answers.body_of(answer, call, session)
    named = json_values.text(body, "job_id", "jobId")
    if named is not None and named != job_id:
        raise UnexpectedAnswerError(
            f"the client requested job {job_id} and {named[:80]!r} came", **answers.of(answer, call, session)
        )
    return body


DEAD = frozenset({401, 403, 404, 410})


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A whole file. `bytes` and `sha256` (hex) are of what was written, that is expanded; `wire_bytes` came over the wire."""

    bytes: int
    sha256: str
    wire_bytes: int


def download(
    session: Session,
    url: str,
    file: BinaryIO,
    *,
    priority: str = "catalog",
    max_bytes: int | None = None,
    max_s: float | None = None,
) -> Downloaded:
    """Writes the file behind a link, gzip expanded. After any error the caller discards the file.

    Only the platform's own host receives the token. `max_bytes`, `max_s`: lower ceilings than those of the limits. LinkNotAllowedError:
    the address is not allowed, and the client sent nothing. LinkExpiredError, DownloadTooLargeError, DownloadBrokenError: see there.
    """
    link = checked(session, url)
    limits = session.limits
    if max_bytes is not None:
        limits = replace(limits, max_bytes=min(max_bytes, limits.max_bytes))
    if max_s is not None:
        limits = replace(limits, total_s=min(max_s, limits.total_s))
    receivers: list[Saved] = []
    for _ in range(session.limits.redirects_max + 1):
        call = _call(session, link, priority, limits, partial(_saved, session, limits, file, receivers))
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


def _call(session: Session, link: Link, priority: str, limits: DownloadLimits, receiver: partial[Saved]) -> Call:
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
        deadline_s=limits.total_s + session.timeout_s,
        head_s=limits.speed_grace_s + limits.speed_window_s if limits.least_bytes_per_s else None,
        receiver=receiver,
    )


def _saved(session: Session, limits: DownloadLimits, file: BinaryIO, receivers: list[Saved]) -> Saved:
    """A receiver for one attempt."""
    receivers.append(Saved(file, limits, session.clock.monotonic_s))
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
