"""Classifies an answer: whether the platform itself sent it, and which error a rejection becomes (interface.md 7).

An excerpt of an answer may be shown: it is short, and without secrets and personal data.
"""

from __future__ import annotations

import datetime as dt
import email.utils
import re
from typing import TYPE_CHECKING, Any

from partner_api import errors, json_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partner_api.call import Call
    from partner_api.sender import Answer
    from partner_api.session import Session

EXCERPT_CHARS_MAX = 300
HIDDEN = "[hidden]"

_SECRETS = (
    re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]+"),
    re.compile(r"eyJ[\w-]{6,}\.[\w-]+(\.[\w-]*)?"),
    re.compile(
        r"(?i)(?<![\w-])([\w-]*?(?:token|secret|password|passwd|authorization|signature|credential|api[_-]?key|sig)[\w-]*)"
        r"([\"']?\s*[:=]\s*[\"']?)(?!\s)[^\s\"'&,;<>}]+"
    ),
)
_QUERY = re.compile(r"(https?://[^\s?\"'<>]+)\?[^\s\"'<>]+")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+")
_PHONE = re.compile(r"\+\d[\d\s()/-]{6,}\d")
_ANY_LONG_NUMBER = re.compile(r"\d(?:[\s()/-]?\d){6,}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_REQUEST_IDS = ("x-request-id", "x-correlation-id", "request-id", "x-amzn-requestid", "cf-ray", "x-trace-id")


def sieve(text: str, secrets: Iterable[str] = (), *, personal: bool = False) -> str:
    """One line without secrets, of at most EXCERPT_CHARS_MAX characters. `personal`: also without anything like a phone number."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN)
    text = text[: EXCERPT_CHARS_MAX * 8]  # the patterns below are not made for megabytes
    text = _QUERY.sub(rf"\1?{HIDDEN}", text)
    text = _SECRETS[0].sub(rf"\1 {HIDDEN}", text)
    text = _SECRETS[1].sub(HIDDEN, text)
    text = _SECRETS[2].sub(rf"\1\2{HIDDEN}", text)
    text = _MAIL.sub(HIDDEN, text)
    text = (_ANY_LONG_NUMBER if personal else _PHONE).sub(HIDDEN, text)
    text = _CONTROL.sub(" ", text)
    return text if len(text) <= EXCERPT_CHARS_MAX else text[: EXCERPT_CHARS_MAX - 1] + "…"


def code_and_message(answer: Answer) -> tuple[str | None, str | None]:
    """Code and message of an error body (`{code, message}`, or as token answers spell them)."""
    body = json_values.mapping(json_values.json_or_none(answer.body))
    nested = json_values.mapping(body.get("error"))
    code = json_values.text(body, "code", "error_code") or json_values.text(nested, "code")
    message = json_values.text(body, "error_description", "message", "error") or json_values.text(nested, "message")
    return code, message


def excerpt(answer: Answer, secrets: Iterable[str], *, personal: bool) -> str | None:
    """The text of the answer, None if empty. With `personal` only code and message, never the rest of the body."""
    code, message = code_and_message(answer)
    if personal:
        text = " ".join(part for part in (code, message) if part)
    else:
        text = answer.body[: EXCERPT_CHARS_MAX * 8].decode("utf-8", "replace").strip()
    return sieve(text, secrets, personal=personal) or None


def request_id(answer: Answer, sent: str | None) -> str | None:
    """The platform's id of the request, else the one that the client sent."""
    for name in _REQUEST_IDS:
        value = answer.headers.get(name)
        if value:
            return sieve(str(value)[:100])
    return sent


def is_page(answer: Answer) -> bool:
    """Whether the answer is a web page instead of JSON or a file: an edge, a gateway or a captive portal sent it."""
    start = answer.body[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return answer.content_type in {"text/html", "application/xhtml+xml"} or start.startswith(
        (b"<!doctype html", b"<html", b"<head")
    )


_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


def parse(value: str | None, *, date: str | None, now: dt.datetime, max_s: float) -> float | None:
    """Seconds to wait, between 0 and `max_s`; None when absent, negative or not understood.

    A date is compared with the answer's own `Date`, not with this machine's clock, which may be wrong (I17).
    """
    text = (value or "").strip()
    if not text:
        return None
    if _SECONDS.fullmatch(text):
        return min(float(text), max_s)
    then = _instant(text)
    if then is None:
        return None
    since = _instant(date or "") or now
    return min(max((then - since).total_seconds(), 0.0), max_s)


def _instant(text: str) -> dt.datetime | None:
    try:
        parsed = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=dt.UTC)


__all__ = ["body_of", "error", "is_block", "is_page", "of", "retry_after_s"]


def is_block(answer: Answer) -> bool:
    """Whether the edge answers instead of the platform: with a page where JSON belongs, or with a 403 that is not the platform's JSON.

    Beyond the rate limit a 429 or a 403 is normal, perhaps as a page. The platform rejects credentials with JSON.
    If the body is unreadable, the content type in the head decides.
    """
    if answer.status == 429:
        return is_page(answer)
    if answer.cut and answer.content_type == "application/json":
        return False
    return answer.status == 403 and (is_page(answer) or not json_values.mapping(json_values.json_or_none(answer.body)))


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


def retry_after_s(answer: Answer, session: Session) -> float | None:
    """The wait in seconds that an answer asks for, or None."""
    headers, max_s = answer.headers, session.dialect.retry_after_max_s
    return parse(headers.get("retry-after"), date=headers.get("date"), now=session.clock.now(), max_s=max_s)


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
