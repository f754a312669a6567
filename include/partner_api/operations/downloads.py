"""Fetching logs and exports (interface.md 5.5), safe against whatever the link or its host may be (I12, I13)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urljoin

from partner_api import answers, links
from partner_api.errors import (
    DownloadBrokenError,
    DownloadRefusedError,
    LinkExpiredError,
    PartnerError,
    UnavailableError,
)
from partner_api.exchange import Call, exchange
from partner_api.receivers import Saved
from partner_api.wire import Answer, Do, Steps

if TYPE_CHECKING:
    from partner_api.links import Link
    from partner_api.session import Session

DEAD = frozenset({401, 403, 404, 410})


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A whole file. `bytes` and `sha256` (hex) are of what was written, that is expanded; `wire_bytes` came over the wire."""

    bytes: int
    sha256: str
    wire_bytes: int


def download(session: Session, url: str, file: BinaryIO, *, lane: str = "catalog") -> Steps[Downloaded]:
    """Writes the file behind a link, gzip expanded. After any error the caller throws away what was written.

    The token goes to the platform's own host alone. DownloadRefusedError: the link leads where we do not go and nothing was sent;
    LinkExpiredError, DownloadTooLargeError, DownloadBrokenError: see there.
    """
    link = checked(session, url)
    receivers: list[Saved] = []
    for _ in range(session.limits.redirects_max + 1):
        call = yield from _call(session, link, lane, partial(_saved, session, file, receivers))
        answer = yield from exchange(session, call)
        if answer.status in {301, 302, 303, 307, 308}:
            link = _next(session, link, answer)
            continue
        if answer.status == 200:
            saved = receivers[-1]
            return Downloaded(saved.written_bytes, saved.sha256, saved.wire_bytes)
        if 200 <= answer.status < 300:
            raise DownloadBrokenError("not the whole file came", operation="download", status=answer.status)
        raise _refusal(session, call, link, answer)
    raise DownloadBrokenError(
        f"{link.authority} redirects more than {session.limits.redirects_max} times", operation="download"
    )


def checked(session: Session, url: str) -> Link:
    """The link, if it leads where a download may go; a DownloadRefusedError otherwise. Sends nothing."""
    try:
        link = links.parse(url)
        session.policy.check(link)
    except DownloadRefusedError as error:
        raise DownloadRefusedError(error.message, operation="download", remedy=error.remedy) from None
    return link


def _call(session: Session, link: Link, lane: str, receiver: partial[Saved]) -> Steps[Call]:
    ours = session.policy.carries_token(link)
    address = None
    if session.resolve is not None:
        try:
            addresses = yield Do(session.resolve, link.host, link.port)
        except (OSError, UnicodeError):
            raise UnavailableError(f"{link.host} has no address now", operation="download") from None
        try:
            address = session.policy.choose(link, addresses)
        except DownloadRefusedError as error:
            raise DownloadRefusedError(error.message, operation="download", remedy=error.remedy) from None
    return Call(
        operation="download",
        lane=lane,
        method="GET",
        url=link.url,
        headers={"Accept": "*/*"},
        harmless=True,
        bearer=ours,
        ours=ours,
        connect_to=address,
        deadline_s=session.limits.total_s + session.timeout_s,
        receiver=receiver,
    )


def _saved(session: Session, file: BinaryIO, receivers: list[Saved]) -> Saved:
    """A receiver for one attempt."""
    receivers.append(Saved(file, session.limits, session.clock.monotonic_s))
    return receivers[-1]


def _next(session: Session, link: Link, answer: Answer) -> Link:
    """Where a redirect leads: checked like the first, and on the same host, or nowhere."""
    location = str(answer.headers.get("location", ""))
    try:
        target = urljoin(link.url, location)
    except ValueError:
        target = ""
    following = checked(session, target)
    if following.origin != link.origin:
        raise DownloadRefusedError(
            f"{link.authority} redirects to another host, {following.authority}",
            operation="download",
            status=answer.status,
        )
    return following


def _refusal(session: Session, call: Call, link: Link, answer: Answer) -> PartnerError:
    error = answers.error(answer, call, session)
    if answer.status in DEAD and not (call.ours and answers.is_block(answer)):
        return LinkExpiredError(
            f"{link.authority} does not give the file out any more",
            operation="download",
            status=answer.status,
            request_id=error.request_id,
            body_excerpt=error.body_excerpt,
        )
    return error
