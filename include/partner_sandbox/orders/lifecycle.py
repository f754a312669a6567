"""What happens to an order on the platform's side: customer, logistics, rider (interface.md 3.1)."""

from __future__ import annotations

from collections.abc import Callable

from partner_sandbox.errors import ApiError, not_found
from partner_sandbox.orders import events, picking, store
from partner_sandbox.orders.order import ENDED, Order
from partner_sandbox.sandbox import Sandbox


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
    """It has reached its customer, or was collected: picked_up in the history, and no event."""

    def step(order: Order) -> tuple[Order, str | None]:
        if order.state not in {"READY_FOR_PICKUP", "DISPATCHED"}:
            raise _not_now(order, "picked up")
        return order.model_copy(update={"state": "PICKED_UP"}), None

    return _move(sandbox, order_id, step)


def _move(sandbox: Sandbox, order_id: str, step: Callable[[Order], tuple[Order, str | None]]) -> Order:
    with sandbox.storage.begin() as connection:
        now_us = sandbox.clock.now_us()
        order = store.find(connection, order_id.lower(), now_us)
        if order is None:
            raise not_found("Order")
        after, event = step(order)
        saved = store.save(connection, order, after, now_us)
        if event is not None:
            events.note(connection, sandbox, saved, event)
    sandbox.work.wake()
    return saved


def _not_now(order: Order, what: str) -> ApiError:
    return ApiError(409, "CONFLICT", f"An order that is {order.state} cannot be {what}")
