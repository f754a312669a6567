"""Order picking and history (interface.md 4.8 to 4.10): a PUT is checked as a whole, then applied as a whole."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy import Connection

from partner_sandbox import bodies, money
from partner_sandbox.bodies import history_instant_us
from partner_sandbox.errors import ApiError, invalid, noted
from partner_sandbox.orders import cart, pricing, store
from partner_sandbox.orders.payload import (
    INVALID_STATUS,
    VALIDATION_ERROR,
    Cancellation,
    CartError,
    OrderUpdate,
    note_event,
    shown,
)
from partner_sandbox.orders.store import Order
from partner_sandbox.sandbox import Sandbox, TheSandbox
from partner_sandbox.settings import Behaviour
from partner_sandbox.vendors import TheChain, named_vendor, store_named

FULFILLABLE = ("RECEIVED", "ACCEPTED")


@dataclass(frozen=True)
class Law:
    """What forbids a status: a sentence, the rule of the interface, and the choice that decides it."""

    broken: bool
    problem: str
    rule: str = "3.1"
    choice: str | None = None


def check(order: Order, wanted: OrderUpdate, behaviour: Behaviour) -> None:
    """400 where the order's state, transport or type do not allow it. UPDATE_CART is allowed in any state."""
    for law in _laws(order, behaviour)[wanted.status]:
        if law.broken:
            raise ApiError(400, INVALID_STATUS, f"status: {law.problem}", rule=law.rule, choice=law.choice)


def _laws(order: Order, behaviour: Behaviour) -> dict[str, tuple[Law, ...]]:
    by_vendor = order.transport_type == "VENDOR_DELIVERY"
    collected = by_vendor and order.order_type == "PICKUP"
    reading = behaviour.order_pickup_by_vendor
    ended = Law(order.state not in FULFILLABLE, f"an order that is {order.state} cannot be fulfilled")
    other = f"an order that is collected in store with vendor delivery is fulfilled with {reading}"
    delivered = "an order with vendor delivery is fulfilled with DISPATCHED"
    return {
        "ACCEPTED": (
            Law(not by_vendor, "ACCEPTED is for vendor delivery only", "4.8.1"),
            Law(
                behaviour.order_acceptance != "enabled",
                "ACCEPTED is not enabled for the chain",
                choice="order_acceptance",
            ),
            Law(order.state != "RECEIVED", f"an order that is {order.state} cannot be accepted"),
        ),
        "READY_FOR_PICKUP": (
            Law(by_vendor and not collected, delivered, "4.8.2"),
            Law(collected and reading == "DISPATCHED", other, "4.8.2", "order_pickup_by_vendor"),
            ended,
        ),
        "DISPATCHED": (
            Law(not by_vendor, "an order with platform delivery is fulfilled with READY_FOR_PICKUP", "4.8.2"),
            Law(collected and reading == "READY_FOR_PICKUP", other, "4.8.2", "order_pickup_by_vendor"),
            ended,
        ),
        "CANCELLED": (Law(ended.broken, f"an order that is {order.state} cannot be cancelled"),),
        "UPDATE_CART": (),
    }


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
        after = _after(connection, sandbox, order, wanted)
        if wanted.status == "UPDATE_CART" and not wanted.cancels:
            # the items as they would be, totals and status as they are (interface.md 4.8.9)
            return Done(shown(order.model_copy(update={"items": after.items}), sandbox.behaviour, "answer"))
        if unapplied:
            return Done(shown(after, sandbox.behaviour, "answer"))
        saved = store.save(connection, order, after, sandbox.clock.now_us())
        noted = _note_event(connection, sandbox, order, saved, wanted)
    return Done(shown(saved, sandbox.behaviour, "answer"), saved.vendor if noted else None)


def _after(connection: Connection, sandbox: Sandbox, order: Order, wanted: OrderUpdate) -> Order:
    """The order after the request, not stored yet."""
    if wanted.cancels:
        if wanted.status == "UPDATE_CART" and sandbox.behaviour.order_validation_without_sku == "rejected":
            problem = "_id without sku; in any other request this cancels the order"
            raise CartError(VALIDATION_ERROR, "items", problem, rule="4.8.9", choice="order_validation_without_sku")
        return cancelled(order, "VENDOR", "ITEM_WITHOUT_SKU")
    check(order, wanted, sandbox.behaviour)
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
    vendor = named_vendor(connection, order.chain, order.vendor)
    change = cart.Cart(
        items=order.items,
        goods=pricing.find_goods(connection, vendor.key, cart.named(wanted.items), sandbox.clock.now_us()),
        new_id=sandbox.ids.uuid,
        weighing=sandbox.behaviour.order_weighing == "enabled",
        untouched_allowed=wanted.status in {"ACCEPTED", "UPDATE_CART"}
        or sandbox.behaviour.order_unprocessed_item == "stays",
    )
    return order.with_items(change.apply(wanted.items))


def _confirmed_milli(order: Order, wanted: OrderUpdate) -> int | None:
    if wanted.confirmed_amount is None:
        return None
    confirmed = money.cut(wanted.confirmed_amount)
    if abs(confirmed - order.order_total_milli) * 10 > order.order_total_milli * TOLERANCE_TENTHS:
        total = money.text(order.order_total_milli)
        problem = f"confirmed_amount: is not within 10% of the computed total {total}"
        raise ApiError(400, VALIDATION_ERROR, problem, rule="4.8.6")
    return confirmed


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
    return cancelled(order.with_items(items), given.cancelled_by, given.reason)


def cancelled(order: Order, by: str, reason: str) -> Order:
    """Cancels the order: its items stay readable, and its customer pays nothing."""
    why = {"reason": reason, "cancelled_by": by}
    return order.model_copy(update={"state": "CANCELLED", "order_total_milli": 0, "cancellation": why})


def _note_event(connection: Connection, sandbox: Sandbox, before: Order, order: Order, wanted: OrderUpdate) -> bool:
    """Notes the event of a fulfilment, always named READY_FOR_PICKUP; ACCEPTED has none (interface.md 6). Returns whether it noted one."""
    if order.state in FULFILLING and wanted.status in FULFILLING and not wanted.cancels:
        note_event(connection, sandbox, order, "READY_FOR_PICKUP")
        return True
    if order.state == "CANCELLED" != before.state and sandbox.behaviour.order_cancelled_event == "always":
        note_event(connection, sandbox, order, "CANCELLED")
        return True
    return False


router = APIRouter(prefix="/v2/chains/{chain_id}")
PAGE_SIZE_DEFAULT = 20
PAGE_SIZE_MAX = 500
PAGE_MAX = 1_000_000


@router.put("/orders/{order_id}", name="put_order")
async def put_order(order_id: str, request: Request, sandbox: TheSandbox, chain: TheChain) -> dict[str, Any]:
    """Accepts, fulfils, changes, validates or cancels an order; answers the order."""
    await asyncio.to_thread(_find, sandbox, chain.chain, order_id)
    wanted = await bodies.read_body(request, OrderUpdate)
    done = await asyncio.to_thread(put, sandbox, chain.chain, bodies.order_id(order_id), wanted)
    if done.notified_vendor is not None and sandbox.faults.draw("order_webhook", "early", vendor=done.notified_vendor):
        await sandbox.work.run_due()
    sandbox.work.wake()
    return done.answer


@router.get("/orders/{order_id}", name="get_order")
def get_order(order_id: str, sandbox: TheSandbox, chain: TheChain) -> dict[str, Any]:
    """One order of the past 60 days."""
    stale = sandbox.faults.draw("get_order", "stale") is not None
    order = _find(sandbox, chain.chain, order_id, stale=stale)
    return shown(order, sandbox.behaviour, "history")


@router.get("/vendors/{vendor_id}", name="list_orders")
@router.get("/vendors/{vendor_id}/orders", name="list_orders")
def list_orders(
    vendor_id: str,
    request: Request,
    sandbox: TheSandbox,
    chain: TheChain,
    start_time: str | None = None,
    end_time: str | None = None,
    page_size: str | None = None,
    page: str | None = None,
) -> Response:
    """A page of a vendor's orders, oldest first; without both ends of a range there are none (field notes)."""
    served = sandbox.behaviour.order_history_path
    path = "orders" if request.scope["route"].path.endswith("/orders") else "vendor"
    if served not in {"both", path}:
        error = ApiError(404, "", "this dialect serves the history at its other path", choice="order_history_path")
        return Response(status_code=404, headers=noted(request.scope, error, sandbox.behaviour))
    number = bodies.whole("page", page, 1, most=PAGE_MAX)
    size = bodies.whole("page_size", page_size, PAGE_SIZE_DEFAULT, most=PAGE_SIZE_MAX)
    start_us = _instant_us(sandbox, "start_time", start_time)
    end_us = _instant_us(sandbox, "end_time", end_time)
    draw = sandbox.faults.draw
    stuck = draw("list_orders", "first_page_again", vendor=vendor_id) is not None
    stale = draw("list_orders", "stale", vendor=vendor_id) is not None
    with sandbox.storage.begin() as connection:
        vendor = store_named(connection, chain.chain, vendor_id)
        total = 0
        orders: list[Order] = []
        if start_us is not None and end_us is not None:
            _check_range(start_us, end_us)
            where = store.within(vendor.key, start_us, end_us, sandbox.clock.now_us())
            first = 0 if stuck else (number - 1) * size
            total, orders = store.page(connection, where, first, size, stale=stale)
    pages = math.ceil(total / size)
    if draw("list_orders", "endless_pages", vendor=vendor_id):
        pages = number + 1
    answer = {
        "orders": [shown(order, sandbox.behaviour, "history") for order in orders],
        "page_number": 1 if stuck else number,
        "page_size": len(orders),
        "total_pages": pages,
    }
    return JSONResponse(answer)


def _find(sandbox: Sandbox, chain: str, order_id: str, *, stale: bool = False) -> Order:
    with sandbox.storage.begin() as connection:
        now_us = sandbox.clock.now_us()
        return store.find(connection, bodies.order_id(order_id), now_us, chain=chain, stale=stale)


def _instant_us(sandbox: Sandbox, name: str, value: str | None) -> int | None:
    if value is None:
        return None
    try:
        return history_instant_us(value, suffix_allowed=sandbox.behaviour.order_history_zone == "accept")
    except ValueError as error:
        raise invalid(name, str(error)) from None


def _check_range(start_us: int, end_us: int) -> None:
    if end_us < start_us:
        raise invalid("end_time", "must not be before start_time")
    if end_us - start_us > store.HISTORY_US:
        raise invalid("end_time", "must be at most 60 days after start_time")
