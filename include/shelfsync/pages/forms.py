"""The fields of a form of the pages: a few short texts."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qs, parse_qsl, unquote

from fastapi import Depends, HTTPException, Path, Query, Request
from starlette.status import HTTP_400_BAD_REQUEST

FORM_BYTES_MAX = 8_192

_BIGGEST = 2**63 - 1
Number = Annotated[int, Path(ge=0, le=_BIGGEST)]
"""The number of a ledger row, in a path."""
First = Annotated[int, Query(ge=0, le=_BIGGEST)]
"""How many rows a page leaves out."""


def is_readable(request: Request) -> bool:
    """Whether path and query are text that a database can look up: no control character, no half of a surrogate pair."""
    query = request.scope.get("query_string", b"").decode("latin-1")
    texts = [request.scope.get("path", ""), unquote(request.scope.get("path", ""))]
    texts += [text for pair in parse_qsl(query, keep_blank_values=True) for text in pair]
    return all(_is_text(text) for text in texts)


def _is_text(text: str) -> bool:
    return not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000 for char in text)


async def read_form(request: Request) -> dict[str, str]:
    """The fields by name, without the empty ones."""
    raw = await request.body()
    if len(raw) > FORM_BYTES_MAX:
        raise HTTPException(HTTP_400_BAD_REQUEST, "this form is too long")
    try:
        fields = {name: values[-1] for name, values in parse_qs(raw.decode("utf-8", "replace")).items()}
    except ValueError:
        raise HTTPException(HTTP_400_BAD_REQUEST, "this form has too many fields") from None
    if "\0" in "".join([*fields, *fields.values()]):
        raise HTTPException(HTTP_400_BAD_REQUEST, "this form holds a character that no text has")
    return fields


Form = Annotated[dict[str, str], Depends(read_form)]
