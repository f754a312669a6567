"""Judging an answer: is it the platform's word, and if it refuses, which error says what to do (interface.md 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partner_api import errors, reading, retry_after
from partner_api.excerpts import code_and_message, excerpt, is_page, sieve

if TYPE_CHECKING:
    from partner_api.exchange import Call
    from partner_api.session import Session
    from partner_api.wire import Answer

__all__ = ["body_of", "error", "is_block", "is_page", "of"]


def is_block(answer: Answer) -> bool:
    """Whether the edge speaks instead of the platform: a page where JSON belongs, or a 403 that is not the platform's JSON.

    Beyond the rate limit a 429 or a 403 is to be expected, perhaps as a page; a real refusal of credentials is JSON. Where its body could
    not be read, the head says whether it was.
    """
    if answer.status == 429:
        return is_page(answer)
    if answer.cut and answer.content_type == "application/json":
        return False
    return answer.status == 403 and (is_page(answer) or not reading.mapping(reading.json_or_none(answer.body)))


def error(answer: Answer, call: Call, session: Session) -> errors.PartnerError:
    """The error for an answer that is no success (or is a web page)."""
    kind, message, remedy = _kind(answer, call)
    code, _ = code_and_message(answer)
    return kind(
        message,
        operation=call.operation,
        status=answer.status,
        request_id=answer.request_id,
        code=sieve(code, _secrets(answer, session), personal=call.personal) if code else None,
        body_excerpt=excerpt(answer, _secrets(answer, session), personal=call.personal),
        retry_after_s=retry_after.parse(
            answer.headers.get("retry-after"),
            date=answer.headers.get("date"),
            now=session.clock.now(),
            max_s=session.dialect.retry_after_max_s,
        ),
        remedy=remedy,
    )


def _secrets(answer: Answer, session: Session) -> list[str]:
    return session.secrets() + ([answer.token.get_secret_value()] if answer.token else [])


Judgement = tuple[type[errors.PartnerError], str, str | None]


def _kind(answer: Answer, call: Call) -> Judgement:
    status = answer.status
    if call.ours and is_block(answer):
        return errors.BlockedError, "the edge in front of the platform blocks this address", None
    if 200 <= status < 300:
        message = "a web page came where JSON was asked for"
        return (errors.UnexpectedAnswerError if call.harmless else errors.AmbiguousError), message, None
    if 300 <= status < 400:
        remedy = "Redirects are not followed with a token; is the base address right?"
        return errors.UnexpectedAnswerError, "the platform redirects elsewhere", remedy
    if status >= 500:
        return _broken(answer, call)
    if call.operation == "token" and status in {400, 401, 403}:
        remedy = "Check client id and secret, and that they belong to this base address"
        return errors.CredentialsError, "the platform does not accept the client id and secret", remedy
    message = "the platform refuses with a status that the interface does not know"
    return _missing(answer) if status == 404 else _REFUSALS.get(status, (errors.UnexpectedAnswerError, message, None))


_REFUSALS: dict[int, Judgement] = {
    400: (errors.InvalidRequestError, "the platform refuses the request", None),
    401: (errors.CredentialsError, "the platform does not accept the token", None),
    403: (errors.CredentialsError, "the credentials may not do this", None),
    408: (errors.UnavailableError, "the platform did not receive the whole request", None),
    413: (errors.InvalidRequestError, "the request is too large", "Send smaller bodies"),
    422: (errors.InvalidRequestError, "the platform refuses the request", None),
    429: (errors.ThrottledError, "the platform asks to wait", None),
}


def _broken(answer: Answer, call: Call) -> Judgement:
    if answer.status == 501:
        return errors.NotEnabledError, "the platform does not offer this to the account", None
    if call.harmless:
        return errors.UnavailableError, "the platform could not answer", None
    return errors.AmbiguousError, "the platform failed after it had the request, which it may have carried out", None


def _missing(answer: Answer) -> Judgement:
    _, message = code_and_message(answer)
    if "platform not found" in (message or answer.body[:200].decode("utf-8", "replace")).lower():
        return errors.NotEnabledError, "the account is not enabled for this", None
    if is_page(answer):
        return errors.NotFoundError, "a web page says that there is no such address", "Check the base address"
    return errors.NotFoundError, "the platform knows no such chain, vendor, job, order or path", None


def body_of(answer: Answer, call: Call, session: Session) -> dict[str, Any]:
    """The JSON object of a good answer. None there: nothing may be concluded, and what was sent may have been done."""
    body = reading.json_or_none(answer.body)
    if isinstance(body, dict):
        return body
    kind = errors.UnexpectedAnswerError if call.harmless else errors.AmbiguousError
    raise kind("the answer is no JSON object", **of(answer, call, session))


def of(answer: Answer, call: Call, session: Session) -> dict[str, Any]:
    """What an error tells of the answer it is about."""
    return {
        "operation": call.operation,
        "status": answer.status,
        "request_id": answer.request_id,
        "body_excerpt": excerpt(answer, _secrets(answer, session), personal=call.personal),
    }
