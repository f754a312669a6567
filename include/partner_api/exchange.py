"""One call from its request to its checked answer: token, gate, attempts, waits.

The client repeats only what is safe: a request that never left, one that the platform rejected unread (429), once after a 401, and
calls that change nothing. A call that changes something and may have arrived ends as AmbiguousError; the client never repeats it (I7).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from partner_api import answers, edge_block, retry_after, token_renewal
from partner_api.back_off import backoff_s
from partner_api.errors import (
    AmbiguousError,
    DownloadBrokenError,
    DownloadSlowError,
    PartnerError,
    UnavailableError,
    UnexpectedAnswerError,
)
from partner_api.receivers import Collected
from partner_api.sender import Answer, Receiver, Request, TransportFailure

if TYPE_CHECKING:
    from pydantic import SecretStr

    from partner_api.call import Call
    from partner_api.session import Session

DEADLINE_TIMEOUTS = 10
RECHECK_S = 1.0
"""A shorter wait at the gate does not outlast a token; if it does, the platform answers 401 and the client renews it once."""
UPLOAD_BYTES_PER_S = 100_000
"""The slowest connection for which the deadline of a large body suffices."""


def exchange(session: Session, call: Call) -> Answer:
    """The answer, whatever its status, after every safe attempt; raises the PartnerError of the last one if no answer came."""
    attempt = 0
    rejected: SecretStr | None = None
    while True:
        attempt += 1
        token = _admitted(session, call, rejected)
        request_id = session.new_id()
        receiver = _receiver(session, call)
        try:
            answer = session.sender.send(_request(session, call, token, request_id), receiver)
        except TransportFailure as failure:
            if call.to_platform:
                session.gate.unanswered(call.operation, str(failure))
            repeatable = not failure.sent or (call.safe_to_repeat and not failure.overdue)
            if receiver.spent or attempt >= _attempts_max(session, call) or not repeatable:
                raise _unanswered(call, failure, request_id, cut=receiver.spent) from None
            session.clock.sleep(backoff_s(session, attempt))
            continue
        except PartnerError as error:
            raise _placed(error, call, request_id) from None
        platforms_id = answers.request_id(answer, request_id)
        answer = replace(answer, request_id=platforms_id, token=token, renewed=rejected is not None)
        wait_s = _report(session, call, answer)
        if answer.status == 401 and token is not None and rejected is None and token_renewal.can_renew(session):
            rejected = token
            attempt -= 1  # the one repeat is not an attempt of its own
            continue
        pause_s = _pause_s(session, call, answer, wait_s, attempt)
        if pause_s is None:
            return answer
        session.clock.sleep(pause_s)


def judged(session: Session, call: Call) -> Answer:
    """The answer if it reports success (2xx, no web page); raises the PartnerError of any other answer."""
    answer = exchange(session, call)
    if 200 <= answer.status < 300 and not (edge_block.is_page(answer) and call.receiver is None):
        return answer
    raise answers.error(answer, call, session)


def _admitted(session: Session, call: Call, rejected: SecretStr | None) -> SecretStr | None:
    """The token, once the gate admits the request. A token that waited longer than RECHECK_S at the gate is checked again."""
    if not call.bearer:
        if not call.admitted:
            session.gate.admit(call.operation, call.priority, call.vendors)
        return None
    token = token_renewal.token(session, call.priority, judged, rejected)
    asked_s = session.clock.monotonic_s()
    session.gate.admit(call.operation, call.priority, call.vendors)
    waited_s = session.clock.monotonic_s() - asked_s
    if waited_s > RECHECK_S and not token_renewal.is_usable(session, token):
        session.gate.done(call.operation, call.priority, False)
        token = token_renewal.token(session, call.priority, judged, rejected)
        session.gate.admit(call.operation, call.priority, call.vendors)  # the first permit may have expired meanwhile
    return token


def _request(session: Session, call: Call, token: SecretStr | None, request_id: str) -> Request:
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "gzip, identity",
        "User-Agent": "partner-api/2",
        **call.headers,
    }
    if call.to_platform:
        headers["X-Request-Id"] = request_id
    if token is not None:
        headers["Authorization"] = f"Bearer {token.get_secret_value()}"
    request = Request(call.method, call.url, headers, call.body, call.connect_to, head_s=call.head_s)
    deadline_s = session.timeout_s * DEADLINE_TIMEOUTS if call.deadline_s is None else call.deadline_s
    return replace(request, deadline_s=deadline_s + request.body_bytes / UPLOAD_BYTES_PER_S)


def _receiver(session: Session, call: Call) -> Receiver:
    return call.receiver() if call.receiver else Collected(session.dialect.answer_max_bytes)


def _report(session: Session, call: Call, answer: Answer) -> float | None:
    wait_s = retry_after.retry_after_s(answer, session)
    if call.to_platform:
        session.gate.report(call.operation, answer.status, wait_s, edge_block.is_block(answer))
    else:
        session.gate.done(call.operation, call.priority, True)
    return wait_s


def _pause_s(session: Session, call: Call, answer: Answer, wait_s: float | None, attempt: int) -> float | None:
    """Seconds to wait before another attempt; None: no further attempt."""
    if attempt >= _attempts_max(session, call) or (call.to_platform and edge_block.is_block(answer)):
        return None
    if answer.status == 429 or (answer.status >= 500 and answer.status != 501 and call.safe_to_repeat):
        pause_s = backoff_s(session, attempt) if wait_s is None else wait_s
        return pause_s if pause_s <= session.wait_max_s else None
    return None


def _attempts_max(session: Session, call: Call) -> int:
    return session.attempts_max if call.attempts_max is None else call.attempts_max


def _unanswered(call: Call, failure: TransportFailure, request_id: str, *, cut: bool) -> PartnerError:
    if failure.overdue and call.head_s is not None:
        return DownloadSlowError(str(failure), operation=call.operation, request_id=request_id)
    if cut:
        message = f"the connection was lost in the middle of the file: {failure}"
        return DownloadBrokenError(message, operation=call.operation, request_id=request_id)
    if failure.sent and not call.safe_to_repeat:
        return AmbiguousError(f"no answer came: {failure}", operation=call.operation, request_id=request_id)
    return UnavailableError(f"no answer came: {failure}", operation=call.operation, request_id=request_id)


def _placed(error: PartnerError, call: Call, request_id: str) -> PartnerError:
    """The error that a body or a receiver raised during the request, with operation and request id."""
    kind = AmbiguousError if isinstance(error, UnexpectedAnswerError) and not call.safe_to_repeat else type(error)
    return kind(
        error.message,
        operation=call.operation,
        request_id=request_id,
        remedy=error.remedy if kind is type(error) else None,
    )
