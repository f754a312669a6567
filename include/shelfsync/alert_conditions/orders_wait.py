"""Alert `orders_wait`: events of orders came, and no task takes them up. The steps of orders cannot report that they do not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.inbox import events

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


def orders_wait(context: Context, connection: Connection) -> Found:
    """Where shelfsync hands orders over, an event has waited for longer than a store may take to take an order."""
    orders = context.settings.orders
    if not orders.hands_over:
        return {}
    count, oldest_s = events.unprocessed_orders(connection)
    if oldest_s <= orders.take_within_s:
        return {}
    are = "1 event of an order is" if count == 1 else f"{count:,} events of orders are"
    line = (
        f"{are} not taken up, the oldest for {oldest_s / 60:.0f} minutes. See in Airflow whether orders_fulfilment is on and"
        " succeeds"
    )
    return {("orders_wait", ""): line}
