"""Promotions: where each stands, what is held for a person and the decision about it, what does not fit the catalog."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.status import HTTP_404_NOT_FOUND, HTTP_409_CONFLICT

from shelfsync.errors import DataError
from shelfsync.pages.forms import First, Number
from shelfsync.pages.shell import house, lead_to, show
from shelfsync.pages.viewer import Decider

router = APIRouter()
MENU = ("/promotions", "Promotions")
DAGS = ("promotions_sync", "promotions_settle")

ROWS = 500
"""SKUs a page."""


@router.get("/promotions")
def promotions(request: Request) -> HTMLResponse:
    """The same as `shelfsync promotions status`, with what was decided lately."""
    return show(request, "promotions.html", title="Promotions", **house(request).promotions.status())


@router.get("/promotions/{number}")
def promotion(request: Request, number: Number, first: First = 0) -> HTMLResponse:
    """One promotion with its SKUs, 500 a page."""
    try:
        found = house(request).promotions.one(number, first=first, rows=ROWS)
    except DataError as error:
        raise HTTPException(HTTP_404_NOT_FOUND, str(error)) from None
    after = first + ROWS if len(found["skus_shown"]) == ROWS else None
    return show(request, "promotion.html", title=f"Promotion {found['name']}", promotion=found, after=after)


@router.post("/promotions/holds/{number}/release")
def release(request: Request, number: Number, person: Decider) -> RedirectResponse:
    """Lets exactly this pass; the next run sends it."""
    return _decided(request, number, release=True, who=person.name)


@router.post("/promotions/holds/{number}/refuse")
def refuse(request: Request, number: Number, person: Decider) -> RedirectResponse:
    """Keeps it as the platform was told, until it changes or somebody releases it."""
    return _decided(request, number, release=False, who=person.name)


def _decided(request: Request, number: int, *, release: bool, who: str) -> RedirectResponse:
    if not house(request).promotions.decide_hold(number, release=release, by=who):
        raise HTTPException(HTTP_409_CONFLICT, f"hold {number} is not held any more: what it was about has changed")
    return lead_to(request, "/promotions")
