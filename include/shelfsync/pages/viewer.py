"""Who looks at a page, and whether that person may decide something there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, HTTPException, Request
from starlette.status import HTTP_403_FORBIDDEN

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Viewer:
    """A person whom somebody else (Airflow) has let in."""

    name: str
    may_decide: bool


def viewer(request: Request) -> Viewer:
    """The person who looks; set by the dependency that guards all pages."""
    found: Viewer = request.state.viewer
    return found


def decider(request: Request) -> Viewer:
    """The person who decides. 403 when that person may only look, or when the form was not one of our own pages'."""
    found = viewer(request)
    if not found.may_decide:
        raise HTTPException(HTTP_403_FORBIDDEN, f"{found.name} may look here but not decide")
    if not _from_here(request.headers):
        raise HTTPException(HTTP_403_FORBIDDEN, "this form was not sent from a page of this server")
    return found


def _from_here(headers: Mapping[str, str]) -> bool:
    """The cookie that tells who it is also goes along when another site's page sends a form here."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin")
    return origin is None or origin.partition("://")[2] == headers.get("host")


CurrentViewer = Annotated[Viewer, Depends(viewer)]
Decider = Annotated[Viewer, Depends(decider)]
