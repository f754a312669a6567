"""What a user sends to a page: the user with the rights to look, decide or stop, and the few short fields of a form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qs, parse_qsl, unquote

from fastapi import Depends, HTTPException, Path, Query, Request
from starlette.status import HTTP_400_BAD_REQUEST, HTTP_403_FORBIDDEN

if TYPE_CHECKING:
    from collections.abc import Mapping

FORM_BYTES_MAX = 8_192

_BIGGEST = 2**63 - 1
Number = Annotated[int, Path(ge=0, le=_BIGGEST)]
"""The number of a ledger row, in a path."""
First = Annotated[int, Query(ge=0, le=_BIGGEST)]
"""How many rows a page leaves out."""
Text = Annotated[str, Query(max_length=255)]
"""Text in a query, such as an identifier; empty: not given."""


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


def newest_shown(form: Mapping[str, str]) -> int:
    """The last hold that the page had shown when its form was sent: a later one was not judged. 0: the form does not name it."""
    shown = form.get("newest", "")
    return int(shown) if shown.isascii() and shown.isdigit() and len(shown) < 19 else 0


@dataclass(frozen=True)
class Viewer:
    """A user whom Airflow has authenticated. The rights are independent: the right to decide does not include the right to stop."""

    name: str
    may_decide: bool
    may_stop: bool = False

    @property
    def rights(self) -> str:
        """As text, for the head of a page."""
        also = [name for name, may in (("decide", self.may_decide), ("stop", self.may_stop)) if may]
        return f"may {' and '.join(['look', *also])}"


def viewer(request: Request) -> Viewer:
    """The user of this request; set by the dependency that guards all pages."""
    found: Viewer = request.state.viewer
    return found


def decider(request: Request) -> Viewer:
    """The user who decides. 403 without the right to decide, or for a form that did not come from these pages."""
    found = viewer(request)
    if not found.may_decide:
        raise HTTPException(HTTP_403_FORBIDDEN, f"{found.name} may look here but not decide")
    return _sender(request, found)


def stopper(request: Request) -> Viewer:
    """The user who pauses or resumes sending. 403 as above."""
    found = viewer(request)
    if not found.may_stop:
        raise HTTPException(HTTP_403_FORBIDDEN, f"{found.name} may look here but not stop or resume")
    return _sender(request, found)


def _sender(request: Request, found: Viewer) -> Viewer:
    if not _from_here(request.headers):
        raise HTTPException(HTTP_403_FORBIDDEN, "this form was not sent from a page of this server")
    return found


def _from_here(headers: Mapping[str, str]) -> bool:
    """Whether a page of this server sent the form. A browser sends the session cookie with a form of another site too, and names that site."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] == headers.get("host")


Decider = Annotated[Viewer, Depends(decider)]
Stopper = Annotated[Viewer, Depends(stopper)]
