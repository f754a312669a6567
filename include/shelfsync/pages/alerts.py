"""What is wrong now and what is over; one alert with its messages, and taking it on."""

from __future__ import annotations

from typing import Any

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse, StreamingResponse
from starlette.status import HTTP_404_NOT_FOUND, HTTP_409_CONFLICT

from shelfsync.alerts.kind import KINDS
from shelfsync.alerts.steps import lists
from shelfsync.alerts.subject_in_words import subject_in_words
from shelfsync.catalog.guards.apply_guards import GUARDS
from shelfsync.decisions.state import Subject
from shelfsync.errors import DataError
from shelfsync.pages.alert_page import page_about
from shelfsync.pages.lists import Column, Field, list_file, list_values
from shelfsync.pages.rights import Decider
from shelfsync.pages.shell import Number, Page, context, for_buyers, lead_to, sentence, show

ALERTS = Page("/alerts", "Alerts", ("alerts_watch",))

_TITLES = {name: kind.title for name, kind in KINDS.items()}
_FIELDS = (
    Field("kind", "kind", _TITLES),
    Field("subject", "about"),
)
_COLUMNS = (
    Column("alert_id", "alert", "alert"),
    Column("kind", "severity", "state", {name: str(kind.severity) for name, kind in KINDS.items()}),
    Column("kind", "kind", "state", _TITLES),
    Column("in_words", "about"),
    Column("opened_at", "since", "when"),
    Column("closed_at", "until", "when"),
    Column("message", "what was wrong", "long"),
    Column("acknowledged_by", "taken on by"),
)


_SUBJECTS = {
    subject_in_words(kind, subject): subject
    for kind, subjects in (("hold_waits", [f"{Subject.CATALOG} {rule}" for rule in GUARDS]), ("not_watched", KINDS))
    for subject in subjects
}
"""What an alert is about, by its words."""


@ALERTS.router.get("/alerts")
def alerts(request: Request) -> HTMLResponse:
    """The same as `shelfsync alerts list` and `--closed`."""
    app = context(request)
    values = list_values(request, lists.OVER, ALERTS.path, _FIELDS, _COLUMNS, instead=_subject_asked(request))
    values["rows"] = [{**_in_words(row), "message": for_buyers(row["message"])} for row in values["rows"]]
    routes = [route.name for route in app.settings.alerts.routes]
    return show(
        request,
        "alerts.html",
        title=ALERTS.title,
        open=[{**row, "about": page_about(row["kind"], row["subject"])} for row in lists.listed(app)],
        routes=routes,
        titles=_TITLES,
        look=lists.look(app),
        muted=[_in_words(row) for row in lists.muted(app)],
        **values,
    )


@ALERTS.router.get("/alerts.csv")
def alerts_file(request: Request) -> StreamingResponse:
    """All alerts that are over, with the filter of the page."""
    return list_file(request, lists.OVER, "alerts.csv", **_subject_asked(request))


def _in_words(row: dict[str, Any]) -> dict[str, Any]:
    """The same with what it is about, as a person calls it; empty: everything of its kind."""
    return {**row, "in_words": subject_in_words(row["kind"], row["subject"] or "")}


def _subject_asked(request: Request) -> dict[str, str]:
    """The subject that the filter names, as the page calls it or by its own name."""
    words = request.query_params.get("subject", "")
    return {"subject": _SUBJECTS.get(words, words)} if words else {}


@ALERTS.router.get("/alerts/{number}")
def alert(request: Request, number: Number) -> HTMLResponse:
    """One alert: what customers see, what happens by itself, and which route has taken which message."""
    try:
        found = lists.shown(context(request), number)
    except DataError as error:
        raise HTTPException(HTTP_404_NOT_FOUND, sentence(error)) from None
    kind, subject = found["kind"], found["subject"]
    return show(
        request,
        "alert.html",
        title=f"Alert {number}",
        alert=_in_words(found),
        kind=_TITLES[kind],
        about=page_about(kind, subject),
    )


@ALERTS.router.post("/alerts/{number}/acknowledge")
def acknowledge(request: Request, number: Number, person: Decider) -> RedirectResponse:
    """The person takes it on. 409: another person has, or it is over."""
    try:
        (result,) = lists.acknowledge(context(request), [number], who=person.name)
    except DataError as error:
        raise HTTPException(HTTP_404_NOT_FOUND, sentence(error)) from None
    if not result["acknowledged"]:
        raise HTTPException(HTTP_409_CONFLICT, f"Nothing was changed: {result['line']}")
    return lead_to(request, f"/alerts/{number}")
