"""Whether the platform itself answers or the edge in front of it: a web page, or a 403 that is not the platform's JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partner_api import json_values

if TYPE_CHECKING:
    from partner_api.sender import Answer


def is_page(answer: Answer) -> bool:
    """Whether the answer is a web page instead of JSON or a file: an edge, a gateway or a captive portal sent it."""
    start = answer.body[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return answer.content_type in {"text/html", "application/xhtml+xml"} or start.startswith(
        (b"<!doctype html", b"<html", b"<head")
    )


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
