"""What is wrong now and what is over; one alert with its messages, and taking it on."""

from __future__ import annotations

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.status import HTTP_404_NOT_FOUND, HTTP_409_CONFLICT

from shelfsync.alerts.steps import lists
from shelfsync.errors import DataError
from shelfsync.pages.shell import Decider, Number, Page, context, lead_to, show

ALERTS = Page("/alerts", "Alerts", ("alerts_watch",))


@ALERTS.router.get("/alerts")
def alerts(request: Request) -> HTMLResponse:
    """The same as `shelfsync alerts list` and `--closed`."""
    app = context(request)
    past = [row for row in lists.listed(app, closed=True) if row["closed_at"] is not None]
    routes = [route.name for route in app.settings.alerts.routes]
    return show(
        request, "alerts.html", title="Alerts", open=lists.listed(app), past=past, routes=routes, look=lists.look(app)
    )


@ALERTS.router.get("/alerts/{number}")
def alert(request: Request, number: Number) -> HTMLResponse:
    """One alert: what customers see, what happens by itself, and which route has taken which message."""
    try:
        found = lists.shown(context(request), number)
    except DataError as error:
        raise HTTPException(HTTP_404_NOT_FOUND, str(error)) from None
    return show(request, "alert.html", title=f"Alert {number}", alert=found)


@ALERTS.router.post("/alerts/{number}/acknowledge")
def acknowledge(request: Request, number: Number, person: Decider) -> RedirectResponse:
    """The person takes it on. 409: another person has, or it is over."""
    try:
        (result,) = lists.acknowledge(context(request), [number], who=person.name)
    except DataError as error:
        raise HTTPException(HTTP_404_NOT_FOUND, str(error)) from None
    if not result["acknowledged"]:
        raise HTTPException(HTTP_409_CONFLICT, f"Nothing was changed: {result['line']}")
    return lead_to(request, f"/alerts/{number}")
