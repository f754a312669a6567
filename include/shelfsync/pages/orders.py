"""Today's orders: where each is, whether its store has it, what became of what was picked. Nobody on it is a customer."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import HTMLResponse

from shelfsync.pages.shell import house, show

router = APIRouter()
MENU = ("/orders", "Orders")
DAGS = ("orders_fulfilment", "orders_history")


@router.get("/orders")
def today(request: Request) -> HTMLResponse:
    """Orders of today and those still open, alarms, and how far each store's history is known."""
    return show(request, "orders.html", title="Orders", **house(request).orders.today())


@router.get("/orders/{order_id}")
def one(request: Request, order_id: str) -> HTMLResponse:
    """One order."""
    told = house(request).orders.order(order_id)
    if told is None:
        raise HTTPException(404, "No such order is known here.")
    return show(request, "order.html", title=f"Order {told['order_code'] or told['order_id']}", order=told)
