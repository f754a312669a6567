"""Which new orders are not handed over: those that are cancelled or picked, or too late, before a store may have seen them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.orders.ledger.orders import OPEN
from shelfsync.orders.ledger.tables import customer_order, hand_over
from shelfsync.orders.ledger.too_late import too_late

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def drop_closed(connection: Connection) -> int:
    """Drops new orders that are not written yet and are cancelled or picked by now; returns how many."""
    moved_on = sa.exists().where(
        customer_order.c.order_id == hand_over.c.order_id, customer_order.c.status.not_in(OPEN)
    )
    return _change_new(connection, "waiting", "dropped", moved_on)


def drop_late(connection: Connection, *, late_hours: float) -> int:
    """Drops new orders that are long past their time; returns how many. Tried ones stay: a store may have seen them."""
    late = sa.exists().where(customer_order.c.order_id == hand_over.c.order_id, too_late(late_hours))
    return _change_new(connection, "waiting", "dropped", hand_over.c.attempts == 0, late)


def plan_rescheduled(connection: Connection, late_hours: float) -> int:
    """Plans dropped orders again if they were never tried and are promised for a later time now; returns how many."""
    in_time = sa.exists().where(
        customer_order.c.order_id == hand_over.c.order_id,
        customer_order.c.status.in_(OPEN),
        ~too_late(late_hours),
    )
    return _change_new(connection, "dropped", "waiting", hand_over.c.attempts == 0, in_time)


def _change_new(connection: Connection, before: str, state: str, *where: sa.ColumnElement[bool]) -> int:
    """Moves documents of new orders from one state to another; returns how many."""
    chosen = hand_over.update().where(hand_over.c.kind == "new", hand_over.c.state == before, *where)
    return connection.execute(chosen.values(state=state)).rowcount
