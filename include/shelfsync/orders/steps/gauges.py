"""The numbers of orders for the status: open ones, ones that no store has taken, results that are not sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.orders.ledger import handovers, picking
from shelfsync.orders.ledger import orders as order_alarms
from shelfsync.orders.ledger.tables import customer_order

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.settings import OrdersSettings


def order_gauges(connection: Connection, settings: OrdersSettings) -> dict[str, Any]:
    """`{"open", "not_taken", "oldest_not_taken_s", "not_sent", "oldest_not_sent_s", "alarms": [...]}`.

    Ages are in seconds, None if nothing waits. `alarms`: the messages of open alarms.
    """
    is_open = customer_order.c.status.in_(handovers.OPEN)
    count = connection.execute(sa.select(sa.func.count()).select_from(customer_order).where(is_open)).scalar_one()
    waiting = handovers.oldest_not_taken(connection, late_hours=settings.late_hours) if settings.owes_orders else ()
    (results,) = picking.oldest_not_sent(connection)
    return {
        "open": count,
        "not_taken": sum(row.orders for row in waiting),
        "oldest_not_taken_s": max((float(row.age_s) for row in waiting), default=None),
        "not_sent": results.orders,
        "oldest_not_sent_s": None if results.age_s is None else float(results.age_s),
        "alarms": [row["message"] for row in order_alarms.lasting(connection)],
    }
