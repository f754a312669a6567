"""The few short fields of a form that a user sends, and the reason that an approval of several holds needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import Depends, HTTPException, Request
from starlette.status import HTTP_400_BAD_REQUEST

FORM_BYTES_MAX = 8_192


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


def reason_for_many(form: Mapping[str, str]) -> str:
    """The reason of an approval of several holds at once; 400 without one."""
    reason = form.get("reason", "").strip()
    if not reason:
        raise HTTPException(
            HTTP_400_BAD_REQUEST, "an approval of several holds at once needs a reason; nothing was done"
        )
    return reason


def newest_shown(form: Mapping[str, str]) -> int:
    """The last hold that the page had shown when its form was sent: a later one was not judged. 0: the form does not name it."""
    shown = form.get("newest", "")
    return int(shown) if shown.isascii() and shown.isdigit() and len(shown) < 19 else 0
