"""Orders in a few numbers, for the status: what is open, what no store has taken, what the platform does not have yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.ledger import handovers, order_alarms, picking
from shelfsync.ledger.order_tables import customer_order

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.settings import OrdersSettings


def standing(connection: Connection, settings: OrdersSettings) -> dict[str, Any]:
    """`{"open", "not_taken", "oldest_not_taken_s", "not_sent", "oldest_not_sent_s", "alarms": [...]}`; ages are null when nothing waits."""
    is_open = customer_order.c.status.in_(handovers.OPEN)
    count = connection.execute(sa.select(sa.func.count()).select_from(customer_order).where(is_open)).scalar_one()
    waiting = handovers.oldest_not_taken(connection, late_h=settings.late_h) if settings.owes_orders else ()
    (results,) = picking.oldest_not_sent(connection)
    return {
        "open": count,
        "not_taken": sum(row.orders for row in waiting),
        "oldest_not_taken_s": max((float(row.age_s) for row in waiting), default=None),
        "not_sent": results.orders,
        "oldest_not_sent_s": None if results.age_s is None else float(results.age_s),
        "alarms": [row["message"] for row in order_alarms.lasting(connection)],
    }
