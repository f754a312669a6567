"""The few short fields of a form that a user sends, and from where a form may come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import Depends, HTTPException, Request
from starlette.status import HTTP_400_BAD_REQUEST

FORM_BYTES_MAX = 16_384


async def read_form(request: Request) -> dict[str, str]:
    """The fields by name, without the empty ones; an error page gives them back from the request's state."""
    raw = await request.body()
    if len(raw) > FORM_BYTES_MAX:
        raise HTTPException(HTTP_400_BAD_REQUEST, "this form is too long")
    try:
        fields = {name: values[-1] for name, values in parse_qs(raw.decode("utf-8", "replace")).items()}
    except ValueError:
        raise HTTPException(HTTP_400_BAD_REQUEST, "this form has too many fields") from None
    if "\0" in "".join([*fields, *fields.values()]):
        raise HTTPException(HTTP_400_BAD_REQUEST, "this form holds a character that no text has")
    request.state.form = fields
    return fields


Form = Annotated[dict[str, str], Depends(read_form)]


def is_of_this_server(headers: Mapping[str, str]) -> bool:
    """Whether a page of this server sent the form. A browser sends the session cookie with a form of another site too, and names that site."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] == headers.get("host")


def newest_shown(form: Mapping[str, str]) -> int:
    """The last hold that the page had shown when its form was sent: a later one was not judged. 0: the form does not name it."""
    shown = form.get("newest", "")
    return int(shown) if shown.isascii() and shown.isdigit() and len(shown) < 19 else 0
