"""Overdue orders: open ones that a store has taken, that are past their due time, and of which no result is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.orders.ledger import orders, picking
from shelfsync.orders.ledger.tables import customer_order, hand_over, picking_result
from shelfsync.orders.warehouse.record import customer_order as warehouse_order
from shelfsync.store.metadata import after

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection


def overdue(connection: Connection, *, take_within_s: float, late_hours: float) -> Sequence[Any]:
    """(vendor, orders, due of the oldest) of open orders that are taken, past their due time, and without an open result.

    The due time is the promised or, if later, the accepted time. Without either it is `late_hours` hours after the order was placed.
    """
    placed = sa.func.coalesce(customer_order.c.placed_at, customer_order.c.first_seen_at)
    in_time = placed + sa.func.make_interval(0, 0, 0, 0, 0, 0, late_hours * 3600)
    due = sa.func.coalesce(sa.func.greatest(customer_order.c.promised_for, warehouse_order.c.accepted_for), in_time)
    taken = sa.exists().where(
        hand_over.c.order_id == customer_order.c.order_id, hand_over.c.kind == "new", hand_over.c.state == "taken"
    )
    under_way = sa.exists().where(
        picking_result.c.order_id == customer_order.c.order_id, picking_result.c.state.in_(picking.OPEN)
    )
    query = (
        sa.select(customer_order.c.vendor, sa.func.count().label("orders"), sa.func.min(due).label("due"))
        .join(warehouse_order, warehouse_order.c.order_id == customer_order.c.order_id)
        .where(customer_order.c.status.in_(orders.OPEN), due < after(-take_within_s), taken, ~under_way)
    )
    return connection.execute(query.group_by(customer_order.c.vendor)).all()
