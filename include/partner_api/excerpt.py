"""What of an answer may be shown in an error: it is short, and without secrets and personal data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from partner_api import json_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partner_api.sender import Answer


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
