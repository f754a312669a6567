"""The rights to look, decide, start and stop of a page's user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from starlette.status import HTTP_403_FORBIDDEN

from shelfsync.pages.form import is_of_this_server


@dataclass(frozen=True)
class Viewer:
    """A user whom Airflow has authenticated. The rights are independent: the right to decide does not include the right to stop.

    `may_start`: whether a decider may also start runs.
    """

    name: str
    may_decide: bool
    may_stop: bool = False
    may_start: bool = False

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


def starter(request: Request) -> Viewer:
    """The user who has a run started. 403 as above."""
    found = decider(request)
    if not found.may_start:
        raise HTTPException(HTTP_403_FORBIDDEN, f"{found.name} may decide here but not start runs")
    return found


def stopper(request: Request) -> Viewer:
    """The user who pauses or resumes sending. 403 as above."""
    found = viewer(request)
    if not found.may_stop:
        raise HTTPException(HTTP_403_FORBIDDEN, f"{found.name} may look here but not stop or resume")
    return _sender(request, found)


def _sender(request: Request, found: Viewer) -> Viewer:
    if not is_of_this_server(request.headers):
        raise HTTPException(HTTP_403_FORBIDDEN, "this form was not sent from a page of this server")
    return found


Decider = Annotated[Viewer, Depends(decider)]


Starter = Annotated[Viewer, Depends(starter)]


Stopper = Annotated[Viewer, Depends(stopper)]
