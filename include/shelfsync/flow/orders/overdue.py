"""Orders that a store has and nobody picked in time: their results never came, or never became whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.ledger import handovers, picking
from shelfsync.ledger.instant import after
from shelfsync.ledger.order_tables import customer_order, hand_over, picking_result
from shelfsync.warehouse.order_tables import customer_order as told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection


def overdue(connection: Connection, *, take_within_s: float, late_h: float) -> Sequence[Any]:
    """(vendor, orders, due: of the oldest) of open orders that are taken, past their time, and of which no result is under way.

    Their time is what the customer was promised, or what the store accepted if that is later; without either, `late_h` after it was placed.
    """
    placed = sa.func.coalesce(customer_order.c.placed_at, customer_order.c.first_seen_at)
    in_time = placed + sa.func.make_interval(0, 0, 0, 0, 0, 0, late_h * 3600)
    due = sa.func.coalesce(sa.func.greatest(customer_order.c.promised_for, told.c.accepted_for), in_time)
    taken = sa.exists().where(
        hand_over.c.order_id == customer_order.c.order_id, hand_over.c.kind == "new", hand_over.c.state == "taken"
    )
    under_way = sa.exists().where(
        picking_result.c.order_id == customer_order.c.order_id, picking_result.c.state.in_(picking.OPEN)
    )
    found = (
        sa.select(customer_order.c.vendor, sa.func.count().label("orders"), sa.func.min(due).label("due"))
        .join(told, told.c.order_id == customer_order.c.order_id)
        .where(customer_order.c.status.in_(handovers.OPEN), due < after(-take_within_s), taken, ~under_way)
    )
    return connection.execute(found.group_by(customer_order.c.vendor)).all()
