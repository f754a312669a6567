"""The kill switch: what is paused, and the forms that pause and resume."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.status import HTTP_400_BAD_REQUEST

from shelfsync.catalog.steps import pause
from shelfsync.errors import ShelfsyncError
from shelfsync.pages.form import Form
from shelfsync.pages.rights import Stopper
from shelfsync.pages.shell import Page, context, lead_to, sentence, show
from shelfsync.platform import kill_switch

SWITCHES = Page("/switches", "Pause")

STOPS = 200
"""Of what is paused, on the page."""


@SWITCHES.router.get("/switches")
def switches(request: Request) -> HTMLResponse:
    """What is paused now, each with its button, the last changes, and the form that pauses."""
    app = context(request)
    with app.engine.connect() as connection:
        stops, history = kill_switch.stops(connection), kill_switch.history(connection)
    return show(
        request,
        "switches.html",
        title="Pause",
        stops=stops[:STOPS],
        more=len(stops) - STOPS,
        history=history,
        chain=app.settings.chain,
    )


@SWITCHES.router.post("/switches/{turn}")
def turn(request: Request, turn: str, person: Stopper, form: Form) -> RedirectResponse:
    """Pauses or resumes what the form names."""
    scope, vendor = form.get("scope", ""), form.get("vendor", "").strip() or None
    reason = form.get("reason", "").strip()
    if (
        turn not in {"pause", "resume"}
        or scope not in {"all", "chain", "vendor"}
        or (scope == "vendor") != (vendor is not None)
    ):
        raise HTTPException(HTTP_400_BAD_REQUEST, "name what to change: one store by its id, the chain, or everything")
    if turn == "pause" and not reason:
        raise HTTPException(HTTP_400_BAD_REQUEST, "give a reason; the pages show it while nothing is sent")
    try:
        if turn == "pause":
            pause.pause(context(request), scope, vendor, why=reason, who=person.name)
        else:
            pause.resume(context(request), scope, vendor, why=reason or "resumed", who=person.name)
    except ShelfsyncError as error:
        raise HTTPException(HTTP_400_BAD_REQUEST, sentence(error)) from None
    at_store = scope == "vendor" and "at_store" in form
    return lead_to(request, f"/store?{urlencode({'vendor': vendor})}" if at_store else "/switches")
