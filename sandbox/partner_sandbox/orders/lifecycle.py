"""What happens to an order on the platform's side: customer, logistics, rider (interface.md 3.1); the control plane calls it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field

from partner_sandbox import bodies
from partner_sandbox.bodies import StrictKnown
from partner_sandbox.contract import described
from partner_sandbox.errors import ApiError
from partner_sandbox.orders import picking, placing, store
from partner_sandbox.orders.payload import note_event, shown
from partner_sandbox.orders.store import ENDED, Order
from partner_sandbox.sandbox import Sandbox, TheSandbox


def cancel(sandbox: Sandbox, order_id: str, by: str = "CUSTOMER", reason: str = "CHANGED_MIND") -> Order:
    """By customer or logistics, from any state but an ended one; event CANCELLED. 409 otherwise."""

    def step(order: Order) -> tuple[Order, str | None]:
        if order.state in ENDED:
            raise _not_now(order, "cancelled")
        return picking.cancelled(order, by, reason), "CANCELLED"

    return _move(sandbox, order_id, step)


def dispatch(sandbox: Sandbox, order_id: str) -> Order:
    """A rider of the platform takes it along: event DISPATCHED. Vendor delivery has no such step."""

    def step(order: Order) -> tuple[Order, str | None]:
        if order.transport_type != "LOGISTICS_DELIVERY" or order.order_type == "PICKUP":
            raise ApiError(409, "CONFLICT", "Only an order that platform riders deliver is dispatched by the platform")
        if order.state != "READY_FOR_PICKUP":
            raise _not_now(order, "dispatched")
        return order.model_copy(update={"state": "DISPATCHED"}), "DISPATCHED"

    return _move(sandbox, order_id, step)


def pick_up(sandbox: Sandbox, order_id: str) -> Order:
    """It has reached its customer, or was collected: picked_up in the history; an event where the dialect has one."""
    event = "DELIVERED" if sandbox.behaviour.order_delivered_event == "sent" else None

    def step(order: Order) -> tuple[Order, str | None]:
        if order.state not in {"READY_FOR_PICKUP", "DISPATCHED"}:
            raise _not_now(order, "picked up")
        return order.model_copy(update={"state": "PICKED_UP"}), event

    return _move(sandbox, order_id, step)


def _move(sandbox: Sandbox, order_id: str, step: Callable[[Order], tuple[Order, str | None]]) -> Order:
    with sandbox.storage.begin() as connection:
        now_us = sandbox.clock.now_us()
        order = store.find(connection, order_id.lower(), now_us)
        after, event = step(order)
        saved = store.save(connection, order, after, now_us)
        if event is not None:
            note_event(connection, sandbox, saved, event)
    sandbox.work.wake()
    return saved


def _not_now(order: Order, what: str) -> ApiError:
    return ApiError(409, "CONFLICT", f"An order that is {order.state} cannot be {what}")


router = APIRouter()
ORDERS_MAX = 500
"""Orders in one answer."""
ORDERS = {
    "type": "object",
    "required": ["total", "orders"],
    "properties": {
        "total": {"type": "integer", "description": "all orders of the chain"},
        "orders": {"type": "array", "items": {"$ref": "#/components/schemas/Order"}},
    },
}


class Cancel(StrictKnown):
    """Who cancels and why; a partner's own cancellation is a PUT on the order."""

    by: Literal["CUSTOMER", "LOGISTICS"] = "CUSTOMER"
    reason: str = Field("CHANGED_MIND", min_length=1, max_length=200)


@router.post("/chains/{chain_id}/vendors/{vendor_id}/orders", **described("Order", placing.Placement))
async def post_order(chain_id: str, vendor_id: str, request: Request, sandbox: TheSandbox) -> dict[str, Any]:
    """A customer orders what the app shows; the whole order, and event RECEIVED."""
    wanted = await bodies.read_body(request, placing.Placement)
    return _shown(sandbox, await asyncio.to_thread(placing.place, sandbox, chain_id, vendor_id, wanted))


@router.get("/chains/{chain_id}/orders", **described(ORDERS))
def read_orders(
    chain_id: str,
    sandbox: TheSandbox,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=ORDERS_MAX)] = ORDERS_MAX,
) -> dict[str, Any]:
    """The orders of a chain in the order in which they were placed, each as an answer of the interface shows it, and their number."""
    with sandbox.storage.begin() as connection:
        total, found = store.page(connection, store.of_chain(chain_id), offset, limit)
    return {"total": total, "orders": [_shown(sandbox, order) for order in found]}


@router.post("/orders/{order_id}/cancel", **described("Order", Cancel, optional=True))
async def post_cancel(order_id: str, request: Request, sandbox: TheSandbox) -> dict[str, Any]:
    """Cancelled by the customer or by logistics; event CANCELLED."""
    wanted = await bodies.read_body(request, Cancel) if await request.body() else Cancel()
    order = await asyncio.to_thread(cancel, sandbox, bodies.order_id(order_id), wanted.by, wanted.reason)
    return _shown(sandbox, order)


@router.post("/orders/{order_id}/dispatch", **described("Order"))
def post_dispatch(order_id: str, sandbox: TheSandbox) -> dict[str, Any]:
    """A rider of the platform takes it; event DISPATCHED."""
    return _shown(sandbox, dispatch(sandbox, bodies.order_id(order_id)))


@router.post("/orders/{order_id}/pick-up", **described("Order"))
def post_pick_up(order_id: str, sandbox: TheSandbox) -> dict[str, Any]:
    """Its customer has it: picked_up in the history, no event."""
    return _shown(sandbox, pick_up(sandbox, bodies.order_id(order_id)))


def _shown(sandbox: Sandbox, order: Order) -> dict[str, Any]:
    return shown(order, sandbox.behaviour, "answer")
