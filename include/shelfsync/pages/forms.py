"""The fields of a form of our own pages: a few short texts."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qs

from fastapi import Depends, HTTPException, Request
from starlette.status import HTTP_400_BAD_REQUEST

FORM_BYTES_MAX = 8_192


async def read_form(request: Request) -> dict[str, str]:
    """The fields by name; one that was left empty is not among them."""
    raw = await request.body()
    if len(raw) > FORM_BYTES_MAX:
        raise HTTPException(HTTP_400_BAD_REQUEST, "this form is too long")
    return {name: values[-1] for name, values in parse_qs(raw.decode("utf-8", "replace")).items()}


Form = Annotated[dict[str, str], Depends(read_form)]
