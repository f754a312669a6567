"""The download of a log or export behind a link (interface.md 5.5), safe against any link and any host (I12, I13).

It follows a redirect only on the same host, gives the token to the platform alone, and knows an expired link.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urljoin

from partner_api import answers, edge_block, links
from partner_api.call import Call
from partner_api.errors import (
    DownloadBrokenError,
    LinkExpiredError,
    LinkNotAllowedError,
    PartnerError,
    UnavailableError,
)
from partner_api.exchange import exchange
from partner_api.receivers import Saved

if TYPE_CHECKING:
    from partner_api.download_limits import DownloadLimits
    from partner_api.links import Link
    from partner_api.sender import Answer
    from partner_api.session import Session

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
    if answer.status in DEAD and not (call.to_platform and edge_block.is_block(answer)):
        return LinkExpiredError(
            f"{link.authority} no longer serves the file",
            operation="download",
            status=answer.status,
            request_id=error.request_id,
            body_excerpt=error.body_excerpt,
        )
    return error
