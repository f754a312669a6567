"""The order PUT: checked as a whole, then applied as a whole (interface.md 4.8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from partner_sandbox.catalog import money
from partner_sandbox.errors import ApiError, invalid, not_found
from partner_sandbox.orders import cart, events, goods, store
from partner_sandbox.orders.body import INVALID_STATUS, VALIDATION_ERROR, Cancellation, CartError, OrderUpdate
from partner_sandbox.orders.order import Order
from partner_sandbox.orders.shown import shown
from partner_sandbox.sandbox import Sandbox

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


TOLERANCE_TENTHS = 1
"""confirmed_amount may differ from the platform's total by so many tenths of it (interface.md 4.8.6)."""
FULFILLING = ("READY_FOR_PICKUP", "DISPATCHED")


@dataclass(frozen=True)
class Done:
    """The answer, and the vendor of the order if an event was noted."""

    answer: dict[str, Any]
    notified_vendor: str | None = None


def put(sandbox: Sandbox, chain: str, order_id: str, wanted: OrderUpdate) -> Done:
    """Applies the request and returns the order; ApiError if it breaks a rule, and nothing changes."""
    if wanted.order_id != order_id:
        raise invalid("order_id", "is not the one of the path")
    unapplied = sandbox.faults.draw("put_order", "not_applied") is not None
    with sandbox.storage.begin() as connection:
        order = store.find(connection, order_id, sandbox.clock.now_us(), chain=chain)
        if order is None:
            raise not_found("Order")
        after = _after(connection, sandbox, order, wanted)
        if wanted.status == "UPDATE_CART" and not wanted.cancels:
            return Done(shown(_validated(order, after), sandbox.behaviour, "answer"))
        if unapplied:
            return Done(shown(after, sandbox.behaviour, "answer"))
        saved = store.save(connection, order, after, sandbox.clock.now_us())
        noted = _note_event(connection, sandbox, order, saved, wanted)
    return Done(shown(saved, sandbox.behaviour, "answer"), saved.vendor if noted else None)


def _after(connection: Connection, sandbox: Sandbox, order: Order, wanted: OrderUpdate) -> Order:
    """The order after the request, not stored yet."""
    if wanted.cancels:
        if wanted.status == "UPDATE_CART" and sandbox.behaviour.order_validation_without_sku == "refused":
            raise CartError(VALIDATION_ERROR, "items", "_id without sku; in any other request this cancels the order")
        return cancelled(order, "VENDOR", "ITEM_WITHOUT_SKU")
    check(order, wanted, acceptance=sandbox.behaviour.order_acceptance == "enabled")
    if wanted.status == "CANCELLED":
        return _cancelled_by_partner(order, wanted)
    if not wanted.items and wanted.status != "ACCEPTED":
        raise invalid("items", "is required")
    picked = _with_items(connection, sandbox, order, wanted)
    if wanted.status == "ACCEPTED":
        return picked.model_copy(update={"state": "ACCEPTED", "accepted_us": wanted.accepted_for})
    confirmed = _confirmed_milli(picked, wanted)
    if confirmed is not None:
        picked = picked.model_copy(update={"confirmed_milli": confirmed, "order_total_milli": confirmed})
    return picked.model_copy(update={"state": wanted.status}) if wanted.status in FULFILLING else picked


def _with_items(connection: Connection, sandbox: Sandbox, order: Order, wanted: OrderUpdate) -> Order:
    vendor = store.vendor_of(connection, order.chain, order.vendor)
    assert vendor is not None, "an order belongs to a vendor"
    change = cart.Cart(
        items=order.items,
        goods=goods.find(connection, vendor.key, cart.named(wanted.items), sandbox.clock.now_us()),
        new_id=sandbox.ids.uuid,
        weighing=sandbox.behaviour.order_weighing == "enabled",
        untouched_allowed=wanted.status in {"ACCEPTED", "UPDATE_CART"},
    )
    return order.with_items(change.apply(wanted.items))


def _confirmed_milli(order: Order, wanted: OrderUpdate) -> int | None:
    if wanted.confirmed_amount is None:
        return None
    confirmed = money.cut(wanted.confirmed_amount)
    if abs(confirmed - order.order_total_milli) * 10 > order.order_total_milli * TOLERANCE_TENTHS:
        total = money.text(order.order_total_milli)
        raise ApiError(400, VALIDATION_ERROR, f"confirmed_amount: is not within 10% of the computed total {total}")
    return confirmed


def _validated(order: Order, after: Order) -> Order:
    """The feedback of an UPDATE_CART: the items as they would be, totals and status as they are (interface.md 4.8.9)."""
    return order.model_copy(update={"items": after.items})


def _cancelled_by_partner(order: Order, wanted: OrderUpdate) -> Order:
    found = [number for number, item in enumerate(wanted.items) if item.status != "NOT_FOUND"]
    if found or not wanted.items:
        where = f"items[{found[0]}].status" if found else "items"
        raise CartError(VALIDATION_ERROR, where, "a cancelled order has every item NOT_FOUND")
    unmentioned = {item.sku for item in order.items} - {item.sku for item in wanted.items}
    if unmentioned:
        raise CartError(VALIDATION_ERROR, "items", f"the item with the SKU {min(unmentioned)!r} is not among them")
    given = wanted.cancellation or Cancellation(reason="ITEM_UNAVAILABLE")
    items = tuple(item.model_copy(update={"status": "NOT_FOUND"}) for item in order.items)
    return cancelled(order.model_copy(update={"items": items}), given.cancelled_by, given.reason)


def cancelled(order: Order, by: str, reason: str) -> Order:
    """Cancels the order; its items stay readable."""
    return order.model_copy(update={"state": "CANCELLED", "cancellation": {"reason": reason, "cancelled_by": by}})


def _note_event(connection: Connection, sandbox: Sandbox, before: Order, order: Order, wanted: OrderUpdate) -> bool:
    """Notes the event of a fulfilment, always named READY_FOR_PICKUP; ACCEPTED has none (interface.md 6). Returns whether it noted one."""
    if order.state in FULFILLING and wanted.status in FULFILLING and not wanted.cancels:
        events.note(connection, sandbox, order, "READY_FOR_PICKUP")
        return True
    if order.state == "CANCELLED" != before.state and sandbox.behaviour.order_cancelled_event == "always":
        events.note(connection, sandbox, order, "CANCELLED")
        return True
    return False
