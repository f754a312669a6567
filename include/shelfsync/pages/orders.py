"""Every order, what needs a person, and one order. No page of orders shows personal data."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse, StreamingResponse
from starlette.status import HTTP_404_NOT_FOUND

from shelfsync.orders.order_state import RANK
from shelfsync.orders.steps import lists
from shelfsync.orders.steps.find_order import find_order
from shelfsync.pages.lists import Chip, Column, Field, list_file, list_values
from shelfsync.pages.shell import Page, context, show

ORDERS = Page("/orders", "Orders", ("orders_fulfilment", "orders_history"))

_STATES = {state: state.replace("_", " ").lower() for state in RANK}
_WORDS = _STATES | {
    "DELIVERY": "delivery",
    "PICKUP": "pickup",
    "LOGISTICS_DELIVERY": "by a rider of the platform",
    "VENDOR_DELIVERY": "by the store",
    "NOT_PROCESSED": "not picked yet",
    "IN_CART": "picked",
    "NOT_FOUND": "not found",
    "REPLACED": "replaced",
    "ADDITION": "added",
    "read_back": "read back",
}
"""Of an order and of its items, instead of the platform's."""
_BAD = ("rejected", "overtaken")
_FIELDS = (
    Field("state", "state", _STATES),
    Field("open", "still to be picked", {"yes": "yes"}),
    Field("vendor", "store"),
    Field("number", "code or number"),
)
_COLUMNS = (
    Column("placed_at", "placed", "when"),
    Column("vendor", "store", "store"),
    Column("order_id", "order", "order", text="order_code"),
    Column("status", "state", "state", _STATES),
    Column("promised_for", "promised for", "when"),
    Column("items", "items", "number"),
    Column("fees", "fees", "price"),
    Column("order_total", "total", "price"),
    Column("handed_over", "at the store"),
    Column("result", "picking result"),
    Column("result_state", "its state"),
    Column("result_error", "error"),
)


@ORDERS.router.get("/orders")
def orders(request: Request) -> HTMLResponse:
    """Every order, alarms, and how far the history of stores was read. No order page shows personal data."""
    found = lists.today(context(request))
    values = list_values(request, lists.ORDERS, ORDERS.path, _FIELDS, _COLUMNS)
    values["rows"] = [
        {**row, "bad": row["result_state"] in _BAD, "result_error": _error(row)} for row in values["rows"]
    ]
    asked = values["asked"]
    is_open = Chip("still to be picked", found["open"], "open=yes", chosen="open" in asked.filters)
    if asked.filters:
        empty = "There is no such order."
    else:
        empty = "No order yet. The platform reports each order by webhook; DAG `orders_fulfilment` processes it."
    return show(request, "orders.html", title=ORDERS.title, chips=[is_open], empty=empty, **found, **values)


def _error(row: dict[str, Any]) -> str:
    odd = "a time of it is not believed" if row["has_odd_time"] else ""
    return "; ".join(filter(None, (odd, row["result_error"])))


@ORDERS.router.get("/orders.csv")
def orders_file(request: Request) -> StreamingResponse:
    """All orders that the page has with this filter."""
    return list_file(request, lists.ORDERS, "orders.csv")


@ORDERS.router.get("/orders/{order_id}")
def order(request: Request, order_id: str) -> HTMLResponse:
    """One order."""
    found = find_order(context(request), order_id)
    if found is None:
        raise HTTPException(HTTP_404_NOT_FOUND, "shelfsync knows no such order.")
    for result in found["results"]:
        for item in (result["feedback"] or {}).get("items", ()):  # it is kept as the platform's text
            item["total_price"] = None if item["total_price"] is None else Decimal(item["total_price"])
    title = f"Order {found['order_code'] or found['order_id']}"
    return show(request, "order.html", title=title, order=found, words=_WORDS)
