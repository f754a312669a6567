"""Orders at the control plane: a customer places one, cancels it; a rider takes it, a customer has it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field

from partner_sandbox import bodies
from partner_sandbox.access.callers import TheSandbox
from partner_sandbox.errors import invalid, not_found
from partner_sandbox.orders import lifecycle, placing, store
from partner_sandbox.orders.order import Order
from partner_sandbox.orders.shown import shown
from partner_sandbox.promotions import answers
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.wire import UUID, Body

router = APIRouter()
ORDERS_MAX = 500
"""Orders in one answer."""


class Cancel(Body):
    """Who cancels and why; a partner's own cancellation is a PUT on the order."""

    by: Literal["CUSTOMER", "LOGISTICS"] = "CUSTOMER"
    reason: str = Field("CHANGED_MIND", min_length=1, max_length=200)


@router.post("/chains/{chain_id}/vendors/{vendor_id}/orders")
async def post_order(chain_id: str, vendor_id: str, request: Request, sandbox: TheSandbox) -> dict[str, Any]:
    """A customer orders what the app shows; the whole order, and event RECEIVED."""
    wanted = await bodies.read(request, placing.Placement)
    return await asyncio.to_thread(_place, sandbox, chain_id, vendor_id, wanted)


@router.get("/chains/{chain_id}/orders")
def read_orders(
    chain_id: str,
    sandbox: TheSandbox,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=ORDERS_MAX)] = ORDERS_MAX,
) -> dict[str, Any]:
    """The orders of a chain in the order in which they were placed, each as an answer of the interface shows it, and their number."""
    with sandbox.storage.begin() as connection:
        total, found = store.page(connection, store.of_chain(chain_id), offset, limit)
    return {"total": total, "orders": [_answer(sandbox, order) for order in found]}


@router.post("/orders/{order_id}/cancel")
async def cancel(order_id: str, request: Request, sandbox: TheSandbox) -> dict[str, Any]:
    """Cancelled by the customer or by logistics; event CANCELLED."""
    wanted = await bodies.read(request, Cancel) if await request.body() else Cancel()
    order = await asyncio.to_thread(lifecycle.cancel, sandbox, _uuid(order_id), wanted.by, wanted.reason)
    return _answer(sandbox, order)


@router.post("/orders/{order_id}/dispatch")
def dispatch(order_id: str, sandbox: TheSandbox) -> dict[str, Any]:
    """A rider of the platform takes it; event DISPATCHED."""
    return _answer(sandbox, lifecycle.dispatch(sandbox, _uuid(order_id)))


@router.post("/orders/{order_id}/pick-up")
def pick_up(order_id: str, sandbox: TheSandbox) -> dict[str, Any]:
    """Its customer has it: picked_up in the history, no event."""
    return _answer(sandbox, lifecycle.pick_up(sandbox, _uuid(order_id)))


@router.get("/chains/{chain_id}/promotions")
def read_promotions(chain_id: str, sandbox: TheSandbox) -> dict[str, Any]:
    """The promotions of a chain with the states that the partner portal shows (interface.md 3.4)."""
    with sandbox.storage.begin() as connection:
        return {"promotions": answers.overview(connection, chain_id, sandbox.clock.now_us())}


def _place(sandbox: Sandbox, chain_id: str, vendor_id: str, wanted: placing.Placement) -> dict[str, Any]:
    with sandbox.storage.begin() as connection:
        vendor = store.vendor_of(connection, chain_id, vendor_id)
    if vendor is None:
        raise not_found("Vendor")
    return _answer(sandbox, placing.place(sandbox, vendor, wanted))


def _answer(sandbox: Sandbox, order: Order) -> dict[str, Any]:
    return shown(order, sandbox.behaviour, "answer")


def _uuid(order_id: str) -> str:
    if UUID.fullmatch(order_id) is None:
        raise invalid("order_id", "must be a UUID")
    return order_id.lower()
