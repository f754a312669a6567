"""The orders of today, and one order. No page of orders shows personal data."""

from __future__ import annotations

from decimal import Decimal

from fastapi import HTTPException, Request
from starlette.responses import HTMLResponse
from starlette.status import HTTP_404_NOT_FOUND

from shelfsync.orders.steps import lists
from shelfsync.pages.shell import Page, context, show

ORDERS = Page("/orders", "Orders", ("orders_fulfilment", "orders_history"))


@ORDERS.router.get("/orders")
def today(request: Request) -> HTMLResponse:
    """Orders of today and open orders, alarms, and how far each store's history was read. No order page shows personal data."""
    return show(request, "orders.html", title="Orders", **lists.today(context(request)))


@ORDERS.router.get("/orders/{order_id}")
def order(request: Request, order_id: str) -> HTMLResponse:
    """One order."""
    found = lists.order(context(request), order_id)
    if found is None:
        raise HTTPException(HTTP_404_NOT_FOUND, "shelfsync knows no such order.")
    for result in found["results"]:
        for item in (result["feedback"] or {}).get("items", ()):  # it is kept as the platform's text
            item["total_price"] = None if item["total_price"] is None else Decimal(item["total_price"])
    return show(request, "order.html", title=f"Order {found['order_code'] or found['order_id']}", order=found)
