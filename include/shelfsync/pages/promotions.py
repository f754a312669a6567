"""Promotions: the state of each, the holds and the decision about them, and what does not fit the catalog."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.status import HTTP_404_NOT_FOUND, HTTP_409_CONFLICT

from shelfsync.errors import DataError
from shelfsync.pages.shell import Decider, First, Form, Number, Page, Text, context, lead_to, newest_shown, show
from shelfsync.promotions.steps.status import STATES, decide, decide_hold, one, status

PROMOTIONS = Page("/promotions", "Promotions", ("promotions_sync", "promotions_recover"))

ROWS = 500
"""Promotions or SKUs a page."""


@PROMOTIONS.router.get("/promotions")
def promotions(
    request: Request,
    state: Text = "",
    vendor: Text = "",
    campaign: Text = "",
    sku: Text = "",
    first: First = 0,
    *,
    problems: bool = False,
) -> HTMLResponse:
    """The same as `shelfsync promotions status`, with its options and the latest decisions; 500 promotions a page."""
    chosen = {"state": state, "vendor": vendor, "campaign": campaign, "sku": sku}
    given = {name: text for name, text in chosen.items() if text}
    found = status(context(request), **given, problems=problems, first=first, rows=ROWS)
    after = first + ROWS if first + ROWS < found["promotions_found"] else None
    query = {**given, **({"problems": "true"} if problems else {}), "first": after}
    values: dict[str, Any] = {
        "chosen": {**chosen, "problems": problems},
        "first": first,
        "more": None if after is None else urlencode(query),
        "states": STATES,
        "zone": _zone(request),
    }
    return show(request, "promotions.html", title="Promotions", **found, **values)


@PROMOTIONS.router.get("/promotions/{number}")
def promotion(request: Request, number: Number, first: First = 0) -> HTMLResponse:
    """One promotion with its SKUs, 500 a page."""
    try:
        found = one(context(request), number, first=first, rows=ROWS)
    except DataError as error:
        raise HTTPException(HTTP_404_NOT_FOUND, str(error)) from None
    after = first + ROWS if len(found["skus_shown"]) == ROWS else None
    values: dict[str, Any] = {"promotion": found, "after": after, "zone": _zone(request)}
    return show(request, "promotion.html", title=f"Promotion {found['name']}", **values)


@PROMOTIONS.router.post("/promotions/holds/{number}/approve")
def approve(request: Request, number: Number, person: Decider) -> RedirectResponse:
    """Approves exactly this; the next run sends it."""
    return _decided(request, number, approve=True, who=person.name)


@PROMOTIONS.router.post("/promotions/holds/{number}/decline")
def decline(request: Request, number: Number, person: Decider) -> RedirectResponse:
    """Declines it: the platform keeps what it has until the hold changes or an operator approves it."""
    return _decided(request, number, approve=False, who=person.name)


@PROMOTIONS.router.post("/promotions/rules/{rule}/approve")
def approve_rule(request: Request, rule: str, form: Form, person: Decider) -> RedirectResponse:
    """Approves all that the page showed of one cause."""
    return _decided_rule(request, rule, form, approve=True, who=person.name)


@PROMOTIONS.router.post("/promotions/rules/{rule}/decline")
def decline_rule(request: Request, rule: str, form: Form, person: Decider) -> RedirectResponse:
    """Declines all that the page showed of one cause."""
    return _decided_rule(request, rule, form, approve=False, who=person.name)


def _zone(request: Request) -> ZoneInfo:
    """The time zone of the ERP's promotions."""
    return ZoneInfo(context(request).settings.promotions.timezone)


def _decided_rule(request: Request, rule: str, form: dict[str, str], *, approve: bool, who: str) -> RedirectResponse:
    if not decide(context(request), None, rule=rule, approve=approve, by=who, newest=newest_shown(form)):
        raise HTTPException(HTTP_409_CONFLICT, f"no hold of rule {rule!r} is open any more")
    return lead_to(request, "/promotions")


def _decided(request: Request, number: int, *, approve: bool, who: str) -> RedirectResponse:
    if not decide_hold(context(request), number, approve=approve, by=who):
        raise HTTPException(HTTP_409_CONFLICT, f"hold {number} is closed: its promotion has changed")
    return lead_to(request, "/promotions")
