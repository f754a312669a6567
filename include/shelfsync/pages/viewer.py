"""Who looks at a page, and what that person may do there: look, decide, or stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, HTTPException, Request
from starlette.status import HTTP_403_FORBIDDEN

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Viewer:
    """A person whom somebody else (Airflow) has let in. Each right stands for itself: who may decide may not stop by that."""

    name: str
    may_decide: bool
    may_stop: bool = False

    @property
    def rights(self) -> str:
        """In words, for the head of a page."""
        also = [word for word, may in (("decide", self.may_decide), ("stop", self.may_stop)) if may]
        return f"may {' and '.join(['look', *also])}"


def viewer(request: Request) -> Viewer:
    """The person who looks; set by the dependency that guards all pages."""
    found: Viewer = request.state.viewer
    return found


def decider(request: Request) -> Viewer:
    """The person who decides. 403 when that person may not, or when the form was not one of our own pages'."""
    found = viewer(request)
    if not found.may_decide:
        raise HTTPException(HTTP_403_FORBIDDEN, f"{found.name} may look here but not decide")
    return _sender(request, found)


def stopper(request: Request) -> Viewer:
    """The person who pauses or resumes sending. 403 as above."""
    found = viewer(request)
    if not found.may_stop:
        raise HTTPException(HTTP_403_FORBIDDEN, f"{found.name} may look here but not stop or resume")
    return _sender(request, found)


def _sender(request: Request, found: Viewer) -> Viewer:
    if not _from_here(request.headers):
        raise HTTPException(HTTP_403_FORBIDDEN, "this form was not sent from a page of this server")
    return found


def _from_here(headers: Mapping[str, str]) -> bool:
    """The cookie that tells who it is also goes along when another site's page sends a form here. Every browser says where from."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] == headers.get("host")


CurrentViewer = Annotated[Viewer, Depends(viewer)]
Decider = Annotated[Viewer, Depends(decider)]
Stopper = Annotated[Viewer, Depends(stopper)]
