"""What the guards hold, all rows of one, and the decision about it."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.status import HTTP_404_NOT_FOUND

from shelfsync.errors import DataError
from shelfsync.pages.shell import house, lead_to, show
from shelfsync.pages.viewer import Decider

router = APIRouter()
MENU = ("/holds", "Holds")
DAGS = ("catalog_full_sync", "catalog_delta_sync", "catalog_holds", "catalog_settle")

ROWS = 500
"""Rows a page."""


@router.get("/holds")
def holds(request: Request) -> HTMLResponse:
    """The same as `shelfsync holds list --all`: what waits for a person first."""
    found = house(request).holds.listed()
    waiting = [row for row in found if row["state"] == "open"]
    decided = [row for row in found if row["state"] != "open"]
    return show(request, "holds.html", title="Holds", waiting=waiting, decided=decided)


@router.get("/holds/{number}")
def hold(request: Request, number: int, first: int = 0) -> HTMLResponse:
    """One slice with all its rows, those whose price moves most first, 500 a page."""
    try:
        found = house(request).holds.show(number, first=max(0, first), rows=ROWS)
    except DataError as error:
        raise HTTPException(HTTP_404_NOT_FOUND, str(error)) from None
    after = first + ROWS if first + ROWS < found["rows"] else None
    return show(request, "hold.html", title=f"Hold {number}", hold=found, first=first, after=after)


@router.post("/holds/{number}/approve")
def approve(request: Request, number: int, person: Decider) -> RedirectResponse:
    """Lets it through; the schedule (DAG catalog_settle) sends it."""
    return _decided(request, number, approve=True, who=person.name)


@router.post("/holds/{number}/reject")
def reject(request: Request, number: int, person: Decider) -> RedirectResponse:
    """Keeps it held until the ERP says something else."""
    return _decided(request, number, approve=False, who=person.name)


def _decided(request: Request, number: int, *, approve: bool, who: str) -> RedirectResponse:
    house(request).holds.decide(number, approve=approve, who=who, why="on the page")
    return lead_to(request, f"/holds/{number}")
