"""The kill switch: who stopped what and why, every turn of it, and the way to turn it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.status import HTTP_400_BAD_REQUEST

from shelfsync.errors import ShelfsyncError
from shelfsync.pages.forms import Form
from shelfsync.pages.shell import house, lead_to, show
from shelfsync.pages.viewer import Stopper

if TYPE_CHECKING:
    from shelfsync.pages.viewer import Viewer

router = APIRouter()
MENU = ("/switches", "Pause")
DAGS: tuple[str, ...] = ()


@router.get("/switches")
def switches(request: Request) -> HTMLResponse:
    """What is paused now, the last turns, and two forms."""
    found = house(request).switches()
    return show(request, "switches.html", title="Pause", **found)


@router.post("/switches/{turn}")
def turn(request: Request, turn: str, person: Stopper, form: Form) -> RedirectResponse:
    """Pauses or resumes what the form names."""
    _turn(request, turn, person, form)
    return lead_to(request, "/switches")


def _turn(request: Request, turn: str, person: Viewer, form: dict[str, str]) -> None:
    scope, vendor, why = form.get("scope", ""), form.get("vendor", "").strip() or None, form.get("why", "").strip()
    if (
        turn not in {"pause", "resume"}
        or scope not in {"all", "chain", "vendor"}
        or (scope == "vendor") != (vendor is not None)
    ):
        raise HTTPException(HTTP_400_BAD_REQUEST, "say what: one vendor by its id, the chain, or everything")
    if turn == "pause" and not why:
        raise HTTPException(HTTP_400_BAD_REQUEST, "say why: whoever wonders why nothing goes is shown it")
    opened = house(request)
    try:
        if turn == "pause":
            opened.pause(scope, vendor, why=why, who=person.name)
        else:
            opened.resume(scope, vendor, why=why or "resumed", who=person.name)
    except ShelfsyncError as error:
        raise HTTPException(HTTP_400_BAD_REQUEST, str(error)) from None
