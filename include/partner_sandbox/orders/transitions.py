"""Which status a PUT may ask for, and when (interface.md 3.1, 4.8.1, 4.8.2)."""

from __future__ import annotations

from partner_sandbox.errors import ApiError
from partner_sandbox.orders.body import INVALID_STATUS, OrderUpdate
from partner_sandbox.orders.order import Order

FULFILLABLE = ("RECEIVED", "ACCEPTED")


def check(order: Order, wanted: OrderUpdate, *, acceptance: bool) -> None:
    """400 where the order's state, transport or type do not allow it. UPDATE_CART is allowed in any state."""
    problem = _problem(order, wanted.status, acceptance=acceptance)
    if problem is not None:
        raise ApiError(400, INVALID_STATUS, f"status: {problem}")


def _problem(order: Order, wanted: str, *, acceptance: bool) -> str | None:
    by_vendor = order.transport_type == "VENDOR_DELIVERY"
    collected = order.order_type == "PICKUP"
    laws = {
        "ACCEPTED": {
            "ACCEPTED is for vendor delivery only": not by_vendor,
            "ACCEPTED is not enabled for the chain": not acceptance,
            f"an order that is {order.state} cannot be accepted": order.state != "RECEIVED",
        },
        "READY_FOR_PICKUP": {
            "an order with vendor delivery is fulfilled with DISPATCHED": by_vendor and not collected,
            f"an order that is {order.state} cannot be fulfilled": order.state not in FULFILLABLE,
        },
        "DISPATCHED": {
            "an order with platform delivery is fulfilled with READY_FOR_PICKUP": not by_vendor,
            "an order that is collected in store is fulfilled with READY_FOR_PICKUP": by_vendor and collected,
            f"an order that is {order.state} cannot be fulfilled": order.state not in FULFILLABLE,
        },
        "CANCELLED": {f"an order that is {order.state} cannot be cancelled": order.state not in FULFILLABLE},
        "UPDATE_CART": {},
    }
    return next((law for law, broken in laws[wanted].items() if broken), None)
