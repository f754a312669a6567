"""Promotions: the state of each, what is held, and what does not fit the catalog."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse
from starlette.status import HTTP_404_NOT_FOUND

from shelfsync.errors import DataError
from shelfsync.pages.shell import (
    First,
    Number,
    Page,
    Text,
    context,
    show,
)
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
    """The same as `shelfsync promotions status`, with its options; 500 promotions a page."""
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
