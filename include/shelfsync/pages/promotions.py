"""Promotions: the state of each, what is held, and what does not fit the catalog."""

from __future__ import annotations

from typing import Any

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.status import HTTP_404_NOT_FOUND

from shelfsync.errors import DataError
from shelfsync.pages.lists import Column, Field, list_file, list_values
from shelfsync.pages.shell import First, Number, Page, context, sentence, show
from shelfsync.promotions.steps.status import PROMOTIONS as EVERY
from shelfsync.promotions.steps.status import STATES, one, status

PROMOTIONS = Page("/promotions", "Promotions", ("promotions_sync", "promotions_recover"))

ROWS = 500
"""SKUs a page."""
_FIELDS = (
    Field("state", "state", {state: state for state in STATES}),
    Field("vendor", "store"),
    Field("campaign", "campaign or name"),
    Field("sku", "SKU"),
    Field("problems", "with problems", {"true": "yes"}),
)
_COLUMNS = (
    Column("state", "state"),
    Column("campaign", "campaign"),
    Column("promotion_id", "name", "promotion", text="name"),
    Column("stores", "stores"),
    Column("skus", "SKUs", "number"),
    Column("start_time", "from", "when"),
    Column("end_time", "to", "when"),
    Column("in_flight", "requests on their way", "number"),
    Column("rejected", "rejected", "number"),
    Column("doubtful", "without a result", "number"),
)


@PROMOTIONS.router.get("/promotions")
def promotions(request: Request) -> HTMLResponse:
    """The same as `shelfsync promotions status`, with its options."""
    values = list_values(request, EVERY, PROMOTIONS.path, _FIELDS, _COLUMNS)
    for row in values["rows"]:
        row["stores"] = "all" if row["vendors"] == ["*"] else len(row["vendors"])
        row["bad"] = row["rejected"] or row["doubtful"] or row["state"] == "failed"
    if values["asked"].filters:
        empty = "No promotion of the last days fits."
    else:
        empty = "No promotion in the last days. The DAG `promotions_sync` reads the ERP's."
    found = status(context(request), rows=0)
    return show(request, "promotions.html", title=PROMOTIONS.title, chips=(), empty=empty, **found, **values)


@PROMOTIONS.router.get("/promotions.csv")
def promotions_file(request: Request) -> StreamingResponse:
    """All promotions that the page has with this filter."""
    return list_file(request, EVERY, "promotions.csv")


@PROMOTIONS.router.get("/promotions/{number}")
def promotion(request: Request, number: Number, first: First = 0) -> HTMLResponse:
    """One promotion with its SKUs, 500 a page."""
    try:
        found = one(context(request), number, first=first, rows=ROWS)
    except DataError as error:
        raise HTTPException(HTTP_404_NOT_FOUND, sentence(error)) from None
    after = first + ROWS if len(found["skus_shown"]) == ROWS else None
    values: dict[str, Any] = {"promotion": found, "after": after}
    return show(request, "promotion.html", title=f"Promotion {found['name']}", **values)
