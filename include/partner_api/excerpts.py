"""What of an answer may be shown: a short piece without secrets and without what belongs to a customer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from partner_api import reading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partner_api.wire import Answer

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
    """One harmless line of at most EXCERPT_CHARS_MAX characters. `personal`: also without anything like a phone number."""
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
    """What an error body says of itself (`{code, message}`, and how token answers spell it)."""
    body = reading.mapping(reading.json_or_none(answer.body))
    nested = reading.mapping(body.get("error"))
    code = reading.text(body, "code", "error_code") or reading.text(nested, "code")
    message = reading.text(body, "error_description", "message", "error") or reading.text(nested, "message")
    return code, message


def excerpt(answer: Answer, secrets: Iterable[str], *, personal: bool) -> str | None:
    """The answer's own words. With `personal` only code and message are shown, never the body around them."""
    code, message = code_and_message(answer)
    if personal:
        said = " ".join(part for part in (code, message) if part)
    else:
        said = answer.body[: EXCERPT_CHARS_MAX * 8].decode("utf-8", "replace").strip()
    return sieve(said, secrets, personal=personal) or None


def request_id(answer: Answer, ours: str | None) -> str | None:
    """The platform's name for the request, else ours."""
    for name in _REQUEST_IDS:
        value = answer.headers.get(name)
        if value:
            return sieve(str(value)[:100])
    return ours


def is_page(answer: Answer) -> bool:
    """Whether a web page came where JSON or a file was asked for: the word of an edge, a gateway or a captive portal."""
    start = answer.body[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return answer.content_type in {"text/html", "application/xhtml+xml"} or start.startswith(
        (b"<!doctype html", b"<html", b"<head")
    )
