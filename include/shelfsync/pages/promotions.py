"""Promotions: the state of each, the holds and the decision about them, and what does not fit the catalog."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.status import HTTP_400_BAD_REQUEST, HTTP_404_NOT_FOUND, HTTP_409_CONFLICT

from shelfsync.errors import DataError
from shelfsync.pages.shell import (
    Decider,
    First,
    Form,
    Number,
    Page,
    Text,
    confirmation,
    context,
    lead_to,
    newest_shown,
    reason_for_many,
    show,
)
from shelfsync.promotions.ledger.holds import Chosen
from shelfsync.promotions.steps.decide import asked, decide
from shelfsync.promotions.steps.decide import reopen as reopen_holds
from shelfsync.promotions.steps.status import STATES, one, status

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
    values: dict[str, Any] = {"promotion": found, "after": after}
    return show(request, "promotion.html", title=f"Promotion {found['name']}", **values)


@PROMOTIONS.router.post("/promotions/holds/{number}/approve")
def approve(request: Request, number: Number, form: Form, person: Decider) -> Response:
    """Approves exactly this, after a confirmation; the next run sends it."""
    return _approved(request, Chosen(hold_id=number), f"/promotions/holds/{number}/approve", form, person.name)


@PROMOTIONS.router.post("/promotions/holds/{number}/decline")
def decline(request: Request, number: Number, form: Form, person: Decider) -> Response:
    """Declines it: the platform keeps what it has until the hold changes, or an operator reopens and approves it."""
    return _decided(request, Chosen(hold_id=number), form, approve=False, who=person.name)


@PROMOTIONS.router.post("/promotions/holds/{number}/reopen")
def reopen(request: Request, number: Number, form: Form, person: Decider) -> Response:
    """Opens what was approved or declined again, with a reason."""
    if not form.get("reason", "").strip():
        raise HTTPException(HTTP_400_BAD_REQUEST, "reopening needs a reason; nothing was done")
    try:
        reopen_holds(context(request), Chosen(hold_id=number), by=person.name, why=form["reason"])
    except DataError as error:
        raise HTTPException(HTTP_409_CONFLICT, str(error)) from None
    return lead_to(request, "/promotions")


@PROMOTIONS.router.post("/promotions/rules/{rule}/approve")
def approve_rule(request: Request, rule: str, form: Form, person: Decider) -> Response:
    """Approves all that the page showed of one cause, with a reason and after a confirmation."""
    reason_for_many(form)
    chosen = Chosen(rule=rule, newest=newest_shown(form))
    return _approved(request, chosen, f"/promotions/rules/{rule}/approve", form, person.name)


@PROMOTIONS.router.post("/promotions/rules/{rule}/decline")
def decline_rule(request: Request, rule: str, form: Form, person: Decider) -> Response:
    """Declines all that the page showed of one cause."""
    return _decided(request, Chosen(rule=rule, newest=newest_shown(form)), form, approve=False, who=person.name)


def _approved(request: Request, chosen: Chosen, action: str, form: dict[str, str], who: str) -> Response:
    question = asked(context(request), chosen)
    if question["holds"]:
        title = f"Approve this of {chosen.label}?"
        page = confirmation(request, form, question, title=title, action=action, back="/promotions")
        if page is not None:
            return page
    return _decided(request, chosen, form, approve=True, who=who, shown=question["mark"])


def _decided(
    request: Request, chosen: Chosen, form: dict[str, str], *, approve: bool, who: str, shown: str | None = None
) -> RedirectResponse:
    """Leads back to the page. 409 reports an answer that came too late."""
    why = " ".join(form.get("reason", "").split())[:500] or None
    try:
        decide(context(request), chosen, approve=approve, by=who, why=why, shown=shown)
    except DataError as error:
        raise HTTPException(HTTP_409_CONFLICT, str(error)) from None
    return lead_to(request, "/promotions")
