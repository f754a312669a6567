"""One call from its request to its judged answer: token, gate, attempts, waits.

What is repeated here is harmless: what never left, what was refused unread (429), the one repeat after a 401, and calls that change
nothing. A call that changes something and may have been received ends as AmbiguousError and is never repeated by itself (I7).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from partner_api import answers, bearer, excerpts, retry_after
from partner_api.errors import (
    AmbiguousError,
    DownloadBrokenError,
    PartnerError,
    UnavailableError,
    UnexpectedAnswerError,
)
from partner_api.receivers import Collected
from partner_api.wire import Answer, Do, Receiver, Request, Send, Steps, StreamedBody, TransportFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import SecretStr

    from partner_api.session import Session

BACKOFF_FIRST_S = 1.0
BACKOFF_MAX_S = 30.0
DEADLINE_TIMEOUTS = 10
UPLOAD_BYTES_PER_S = 100_000
"""The slowest line for which a large body's deadline is still enough."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the interface. `harmless`: repeating it changes nothing. `personal`: its answers hold what belongs to customers."""

    operation: str
    lane: str
    method: str
    url: str
    body: bytes | StreamedBody = field(default=b"", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    harmless: bool = False
    personal: bool = False
    bearer: bool = True
    admitted: bool = False
    """The caller has passed the gate with it already."""
    ours: bool = True
    """Goes to the platform itself; a storage host's refusals are no word of the platform and are not reported to the gate."""
    connect_to: str | None = None
    deadline_s: float | None = None
    """For the whole answer; DEADLINE_TIMEOUTS times the timeout of one read when not said."""
    receiver: Callable[[], Receiver] | None = None


def exchange(session: Session, call: Call) -> Steps[Answer]:
    """The answer, whatever its status, after every harmless attempt; raises where none came."""
    attempt = 0
    refused: SecretStr | None = None
    while True:
        attempt += 1
        token = yield from _admitted(session, call, refused)
        request_id = session.new_id()
        receiver = _receiver(session, call)
        try:
            answer: Answer = yield Send(_request(session, call, token, request_id), receiver)
        except TransportFailure as failure:
            if receiver.spent or attempt >= session.attempts_max or (failure.sent and not call.harmless):
                raise _unanswered(call, failure, request_id, cut=receiver.spent) from None
            yield Do(session.clock.sleep, backoff_s(session, attempt))
            continue
        except PartnerError as error:
            raise _placed(error, call, request_id) from None
        answer = replace(answer, request_id=excerpts.request_id(answer, request_id), token=token)
        wait_s = yield from _report(session, call, answer)
        if answer.status == 401 and token is not None and refused is None and bearer.can_renew(session):
            refused = token
            attempt -= 1  # the one repeat is not an attempt of its own
            continue
        pause_s = _pause_s(session, call, answer, wait_s, attempt)
        if pause_s is None:
            return answer
        yield Do(session.clock.sleep, pause_s)


def judged(session: Session, call: Call) -> Steps[Answer]:
    """The answer if it is a good one; otherwise the error that says what to do."""
    answer = yield from exchange(session, call)
    if 200 <= answer.status < 300 and not (answers.is_page(answer) and call.receiver is None):
        return answer
    raise answers.error(answer, call, session)


def _admitted(session: Session, call: Call, refused: SecretStr | None) -> Steps[SecretStr | None]:
    """The token and the gate's leave. Waiting at the gate may outlast a token, so it is looked at again afterwards."""
    if not call.bearer:
        if not call.admitted:
            yield Do(session.gate.admit, call.operation, call.lane)
        return None
    token = yield from bearer.token(session, call.lane, refused)
    yield Do(session.gate.admit, call.operation, call.lane)
    if not (yield from bearer.is_usable(session, token)):
        yield Do(session.gate.done, call.operation, call.lane, False)
        token = yield from bearer.token(session, call.lane, refused)
        yield Do(session.gate.admit, call.operation, call.lane)  # the first leave may have gone stale meanwhile
    return token


def _request(session: Session, call: Call, token: SecretStr | None, request_id: str) -> Request:
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "gzip, identity",
        "User-Agent": "partner-api/2",
        **call.headers,
    }
    if call.ours:
        headers["X-Request-Id"] = request_id
    if token is not None:
        headers["Authorization"] = f"Bearer {token.get_secret_value()}"
    request = Request(call.method, call.url, headers, call.body, call.connect_to)
    deadline_s = session.timeout_s * DEADLINE_TIMEOUTS if call.deadline_s is None else call.deadline_s
    return replace(request, deadline_s=deadline_s + request.body_bytes / UPLOAD_BYTES_PER_S)


def _receiver(session: Session, call: Call) -> Receiver:
    return call.receiver() if call.receiver else Collected(session.dialect.answer_bytes_max)


def _report(session: Session, call: Call, answer: Answer) -> Steps[float | None]:
    wait_s = retry_after.parse(
        answer.headers.get("retry-after"),
        date=answer.headers.get("date"),
        now=session.clock.now(),
        max_s=session.dialect.retry_after_max_s,
    )
    if call.ours:
        yield Do(session.gate.report, call.operation, answer.status, wait_s, answers.is_block(answer))
    else:
        yield Do(session.gate.done, call.operation, call.lane, True)
    return wait_s


def _pause_s(session: Session, call: Call, answer: Answer, wait_s: float | None, attempt: int) -> float | None:
    """How long to wait before another attempt; None when there is none."""
    if attempt >= session.attempts_max or (call.ours and answers.is_block(answer)):
        return None
    if answer.status == 429 or (answer.status >= 500 and answer.status != 501 and call.harmless):
        pause_s = backoff_s(session, attempt) if wait_s is None else wait_s
        return pause_s if pause_s <= session.wait_max_s else None
    return None


def backoff_s(session: Session, attempt: int) -> float:
    """Half fixed, half by chance, doubling: callers that failed together do not come back together."""
    ceiling_s = min(BACKOFF_FIRST_S * 2 ** (attempt - 1), BACKOFF_MAX_S)
    return float(ceiling_s * (0.5 + session.chance.random() / 2))


def _unanswered(call: Call, failure: TransportFailure, request_id: str, *, cut: bool) -> PartnerError:
    if cut:
        message = f"the connection was lost in the middle of the file: {failure}"
        return DownloadBrokenError(message, operation=call.operation, request_id=request_id)
    if failure.sent and not call.harmless:
        return AmbiguousError(f"no answer came: {failure}", operation=call.operation, request_id=request_id)
    return UnavailableError(f"no answer came: {failure}", operation=call.operation, request_id=request_id)


def _placed(error: PartnerError, call: Call, request_id: str) -> PartnerError:
    """An error that a body or a receiver raised in mid-request, with the request it belongs to and what follows for the call."""
    kind = AmbiguousError if isinstance(error, UnexpectedAnswerError) and not call.harmless else type(error)
    return kind(
        error.message,
        operation=call.operation,
        request_id=request_id,
        remedy=error.remedy if kind is type(error) else None,
    )
