"""Today's orders: the state of each, whether its store has it, and its picking result. It shows no personal data."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import HTMLResponse

from shelfsync.orders.steps import lists
from shelfsync.pages.shell import context, show

router = APIRouter()
MENU = ("/orders", "Orders")
DAGS = ("orders_fulfilment", "orders_history")


@router.get("/orders")
def today(request: Request) -> HTMLResponse:
    """Orders of today and open orders, alarms, and how far each store's history was read."""
    return show(request, "orders.html", title="Orders", **lists.today(context(request)))


@router.get("/orders/{order_id}")
def order(request: Request, order_id: str) -> HTMLResponse:
    """One order."""
    found = lists.order(context(request), order_id)
    if found is None:
        raise HTTPException(404, "shelfsync knows no such order.")
    return show(request, "order.html", title=f"Order {found['order_code'] or found['order_id']}", order=found)
