"""The events of an order: the body is the order itself, without an envelope (interface.md 6; field notes, Orders)."""

from __future__ import annotations

from sqlalchemy import Connection

from partner_sandbox.orders.order import Order
from partner_sandbox.orders.shown import shown
from partner_sandbox.sandbox import Sandbox
from partner_sandbox.webhooks import notices


def note(connection: Connection, sandbox: Sandbox, order: Order, event: str) -> None:
    """One of RECEIVED, READY_FOR_PICKUP, DISPATCHED, CANCELLED. Wake the work after the transaction."""
    notices.note(
        connection,
        sandbox,
        chain=order.chain,
        operation="order_webhook",
        subject=order.order_id,
        event=event,
        body=shown(order, sandbox.behaviour, "event", state=event),
        vendor=order.vendor,
    )
