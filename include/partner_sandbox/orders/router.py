"""Order picking and history (interface.md 4.8 to 4.10)."""

from __future__ import annotations

import asyncio
import math
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from partner_sandbox import bodies
from partner_sandbox.access.callers import TheChain, TheSandbox
from partner_sandbox.errors import invalid, not_found
from partner_sandbox.orders import picking, store
from partner_sandbox.orders.body import OrderUpdate
from partner_sandbox.orders.order import Order
from partner_sandbox.orders.shown import shown
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.wire import UUID, history_instant_us

router = APIRouter(prefix="/v2/chains/{chain_id}")
PAGE_SIZE_DEFAULT = 20
PAGE_SIZE_MAX = 500
PAGE_MAX = 1_000_000


@router.put("/orders/{order_id}", name="put_order")
async def put_order(order_id: str, request: Request, sandbox: TheSandbox, chain: TheChain) -> dict[str, Any]:
    """Accepts, fulfils, changes, validates or cancels an order; answers the order."""
    known = await asyncio.to_thread(_exists, sandbox, chain.chain, _uuid(order_id))
    if not known:
        raise not_found("Order")
    wanted = await bodies.read(request, OrderUpdate)
    done = await asyncio.to_thread(picking.put, sandbox, chain.chain, _uuid(order_id), wanted)
    if done.notified_vendor is not None and sandbox.faults.draw("order_webhook", "early", vendor=done.notified_vendor):
        await sandbox.work.run_due()
    sandbox.work.wake()
    return done.answer


@router.get("/orders/{order_id}", name="get_order")
def get_order(order_id: str, sandbox: TheSandbox, chain: TheChain) -> dict[str, Any]:
    """One order of the past 60 days."""
    stale = sandbox.faults.draw("get_order", "stale") is not None
    with sandbox.storage.begin() as connection:
        now_us = sandbox.clock.now_us()
        order = store.find(connection, _uuid(order_id), now_us, chain=chain.chain, stale=stale)
    if order is None:
        raise not_found("Order")
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
        return Response(status_code=404)
    number = bodies.whole("page", page, 1, most=PAGE_MAX)
    size = bodies.whole("page_size", page_size, PAGE_SIZE_DEFAULT, most=PAGE_SIZE_MAX)
    start_us = _instant_us(sandbox, "start_time", start_time)
    end_us = _instant_us(sandbox, "end_time", end_time)
    draw = sandbox.faults.draw
    stuck = draw("list_orders", "first_page_again", vendor=vendor_id) is not None
    stale = draw("list_orders", "stale", vendor=vendor_id) is not None
    with sandbox.storage.begin() as connection:
        vendor = store.vendor_of(connection, chain.chain, vendor_id)
        if vendor is None:
            raise not_found("Vendor")
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


def _exists(sandbox: Sandbox, chain: str, order_id: str) -> bool:
    with sandbox.storage.begin() as connection:
        return store.find(connection, order_id, sandbox.clock.now_us(), chain=chain) is not None


def _uuid(order_id: str) -> str:
    if UUID.fullmatch(order_id) is None:
        raise invalid("order_id", "must be a UUID")
    return order_id.lower()


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
