"""What the guards hold, all rows of one, and the decision about it."""

from __future__ import annotations

import math
from typing import Any

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.status import HTTP_400_BAD_REQUEST, HTTP_404_NOT_FOUND, HTTP_409_CONFLICT

from shelfsync.errors import DataError
from shelfsync.pages.forms import First, Form, Number
from shelfsync.pages.shell import house, lead_to, show
from shelfsync.pages.viewer import Decider

router = APIRouter()
MENU = ("/holds", "Holds")
DAGS = ("catalog_full_sync", "catalog_delta_sync", "catalog_holds", "catalog_settle")

ROWS = 500
"""Rows a page."""
FIELD = "threshold_"
"""How the fields of a form begin that name a threshold for this once."""


@router.get("/holds")
def holds(request: Request) -> HTMLResponse:
    """The same as `shelfsync holds list --all`: what waits for a person first."""
    found = house(request).holds.listed()
    waiting = [row for row in found if row["state"] == "open"]
    decided = [row for row in found if row["state"] != "open"]
    return show(request, "holds.html", title="Holds", waiting=waiting, decided=decided)


@router.get("/holds/{number}")
def hold(request: Request, number: Number, first: First = 0) -> HTMLResponse:
    """One slice with all its rows, those whose price moves most first, 500 a page."""
    try:
        found = house(request).holds.show(number, first=first, rows=ROWS)
    except DataError as error:
        raise HTTPException(HTTP_404_NOT_FOUND, str(error)) from None
    after = first + ROWS if first + ROWS < found["rows"] else None
    return show(request, "hold.html", title=f"Hold {number}", hold=found, first=first, after=after)


@router.post("/holds/{number}/approve")
def approve(request: Request, number: Number, person: Decider, form: Form) -> RedirectResponse:
    """Lets it through; the schedule (DAG catalog_settle) sends it."""
    told = house(request).holds.decide(number, approve=True, who=person.name, why=form.get("why"))
    return _decided(request, number, told)


@router.post("/holds/{number}/reject")
def reject(request: Request, number: Number, person: Decider, form: Form) -> RedirectResponse:
    """Keeps it held until the ERP says something else."""
    told = house(request).holds.decide(number, approve=False, who=person.name, why=form.get("why"))
    return _decided(request, number, told)


@router.post("/holds/{number}/reconsider")
def reconsider(request: Request, number: Number, person: Decider, form: Form) -> RedirectResponse:
    """Lets through what other thresholds let through, for this once, and rejects the rest."""
    given = {name.removeprefix(FIELD): text for name, text in form.items() if name.startswith(FIELD) and text.strip()}
    thresholds = {name: _number(name, text.strip()) for name, text in given.items()}
    try:
        told = house(request).holds.reconsider(number, thresholds, who=person.name, why=form.get("why"))
    except DataError as error:
        raise HTTPException(HTTP_400_BAD_REQUEST, str(error)) from None
    return _decided(request, number, told)


def _decided(request: Request, number: int, told: dict[str, Any]) -> RedirectResponse:
    """Back to the hold; what came too late is said to the person, not passed over."""
    if not told["decided"]:
        raise HTTPException(HTTP_409_CONFLICT, f"Nothing was decided: {told['line']}")
    return lead_to(request, f"/holds/{number}")


def _number(name: str, text: str) -> float:
    """A threshold as a person writes it; what is none decides nothing."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise HTTPException(HTTP_400_BAD_REQUEST, f"{name}: {text!r} is no number; nothing was decided")
    return int(value) if value.is_integer() else value
