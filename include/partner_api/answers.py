"""Classifies an answer: whether the platform itself sent it, and which error a rejection becomes (interface.md 7).

An excerpt of an answer may be shown: it is short, and without secrets and personal data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partner_api import errors, json_values
from partner_api.edge_block import is_block, is_page
from partner_api.excerpt import code_and_message, excerpt, sieve
from partner_api.retry_after import retry_after_s

if TYPE_CHECKING:
    from partner_api.call import Call
    from partner_api.sender import Answer
    from partner_api.session import Session


_REQUEST_IDS = ("x-request-id", "x-correlation-id", "request-id", "x-amzn-requestid", "cf-ray", "x-trace-id")


def request_id(answer: Answer, sent: str | None) -> str | None:
    """The platform's id of the request, else the one that the client sent."""
    for name in _REQUEST_IDS:
        value = answer.headers.get(name)
        if value:
            return sieve(str(value)[:100])
    return sent


def error(answer: Answer, call: Call, session: Session) -> errors.PartnerError:
    """The error for an answer that reports no success, or is a web page."""
    kind, message, remedy = _kind(answer, call)
    code, _ = code_and_message(answer)
    return kind(
        message,
        operation=call.operation,
        status=answer.status,
        request_id=answer.request_id,
        code=sieve(code, _secrets(answer, session), personal=call.personal) if code else None,
        body_excerpt=excerpt(answer, _secrets(answer, session), personal=call.personal),
        retry_after_s=retry_after_s(answer, session),
        remedy=remedy,
    )


def _secrets(answer: Answer, session: Session) -> list[str]:
    return session.secrets() + ([answer.token.get_secret_value()] if answer.token else [])


Judgement = tuple[type[errors.PartnerError], str, str | None]


def _kind(answer: Answer, call: Call) -> Judgement:
    status = answer.status
    if call.to_platform and is_block(answer):
        return errors.BlockedError, "the edge in front of the platform blocks this address", None
    if 200 <= status < 300:
        message = "a web page came where JSON was asked for"
        return (errors.UnexpectedAnswerError if call.safe_to_repeat else errors.AmbiguousError), message, None
    if 300 <= status < 400:
        remedy = "Correct the base address; the client follows no redirect with a token."
        return errors.UnexpectedAnswerError, "the platform redirects elsewhere", remedy
    if status >= 500:
        return _broken(answer, call)
    if call.operation == "token" and status in {400, 401, 403}:
        remedy = "Check client id and secret, and that they belong to this base address"
        return errors.CredentialsError, "the platform does not accept the client id and secret", remedy
    message = "the platform rejects the request with a status that the interface does not define"
    found = _REJECTIONS.get(status, (errors.UnexpectedAnswerError, message, None))
    return _missing(answer) if status == 404 else _NO_TOKEN_ACCEPTED if status == 401 and answer.renewed else found


_NO_TOKEN_ACCEPTED: Judgement = (
    errors.CredentialsError,
    "the platform issues tokens and accepts none of them here, a new one neither",
    "Client id and secret are right. Check that base address and chain are theirs, and ask the account manager to enable them for this call",
)


_REJECTIONS: dict[int, Judgement] = {
    400: (errors.InvalidRequestError, "the platform rejects the request", None),
    401: (errors.CredentialsError, "the platform does not accept the token", None),
    403: (errors.CredentialsError, "the credentials may not do this", None),
    408: (errors.UnavailableError, "the platform did not receive the whole request", None),
    413: (errors.InvalidRequestError, "the request is too large", "Send smaller bodies"),
    422: (errors.InvalidRequestError, "the platform rejects the request", None),
    429: (errors.ThrottledError, "the platform asks to wait", None),
}


def _broken(answer: Answer, call: Call) -> Judgement:
    if answer.status == 501:
        return errors.NotEnabledError, "the platform does not offer this to the account", None
    if call.safe_to_repeat:
        return errors.UnavailableError, "the platform could not answer", None
    return errors.AmbiguousError, "the platform failed after it had the request, which it may have carried out", None


def _missing(answer: Answer) -> Judgement:
    _, message = code_and_message(answer)
    if "platform not found" in (message or answer.body[:200].decode("utf-8", "replace")).lower():
        return errors.NotEnabledError, "the account is not enabled for this", None
    if is_page(answer):
        return errors.NotFoundError, "a web page answers that there is no such address", "Check the base address"
    return errors.NotFoundError, "the platform knows no such chain, vendor, job, order or path", None


def body_of(answer: Answer, call: Call, session: Session) -> dict[str, Any]:
    """The JSON object of a successful answer.

    Without one: UnexpectedAnswerError if the call is safe to repeat, else AmbiguousError, as the platform may have done the work.
    """
    body = json_values.json_or_none(answer.body)
    if isinstance(body, dict):
        return body
    kind = errors.UnexpectedAnswerError if call.safe_to_repeat else errors.AmbiguousError
    raise kind("the answer is no JSON object", **of(answer, call, session))


def of(answer: Answer, call: Call, session: Session) -> dict[str, Any]:
    """The fields of an error that describe its answer: operation, status, request id and excerpt."""
    return {
        "operation": call.operation,
        "status": answer.status,
        "request_id": answer.request_id,
        "body_excerpt": excerpt(answer, _secrets(answer, session), personal=call.personal),
    }
