"""Orders that no store has taken."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.orders.ledger.handovers import _has
from shelfsync.orders.ledger.orders import OPEN
from shelfsync.orders.ledger.tables import customer_order, hand_over
from shelfsync.orders.ledger.too_late import too_late
from shelfsync.orders.order_state import RANK
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection


def oldest_not_taken(connection: Connection, *, late_hours: float) -> Sequence[Any]:
    """(vendor, orders, age_s of the oldest, unknown, error) of open orders and cancellations that no store has taken, planned or not.

    An order that was handed over counts at any age. A late order that was not handed over counts as `missed` instead. `unknown`: one
    of them whose status is not in the interface, so that it is handed over to nobody; None: none. `error`: why one of them could
    not be handed over; None: stores can see them all.
    """
    is_unknown = _unknown(customer_order.c.status)
    has_it = _has(customer_order.c.order_id, "new", "taken")
    is_handed_over = _has(customer_order.c.order_id, "new", "waiting", "written")
    failed = hand_over.alias("failed")
    why = (
        sa.select(failed.c.error)
        .where(failed.c.order_id == customer_order.c.order_id, failed.c.kind == "new", failed.c.state == "waiting")
        .scalar_subquery()
    )
    new = sa.select(
        customer_order.c.vendor,
        customer_order.c.first_seen_at.label("since"),
        sa.case((is_unknown, customer_order.c.order_id)).label("unknown"),
        why.label("error"),
    ).where(
        sa.or_(customer_order.c.status.in_(OPEN), is_unknown), sa.or_(~too_late(late_hours), is_handed_over), ~has_it
    )
    cancelled = (
        sa.select(customer_order.c.vendor, hand_over.c.created_at, sa.null(), hand_over.c.error)
        .join(customer_order, customer_order.c.order_id == hand_over.c.order_id)
        .where(hand_over.c.state.in_(["waiting", "written"]), hand_over.c.kind == "cancelled")
    )
    waiting = sa.union_all(new, cancelled).subquery()
    age = sa.extract("epoch", instant() - sa.func.min(waiting.c.since))
    unknown = sa.func.min(waiting.c.unknown).label("unknown")
    error = sa.func.max(waiting.c.error).label("error")
    query = sa.select(waiting.c.vendor, sa.func.count().label("orders"), age.label("age_s"), unknown, error)
    return connection.execute(query.group_by(waiting.c.vendor).order_by(age.desc())).all()


def _unknown(status: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Whether the interface does not name this status: between two names, so that an index finds the few there are."""
    names = sorted(RANK)
    between = [sa.and_(status > one, status < other) for one, other in itertools.pairwise(names)]
    return sa.or_(status < names[0], *between, status > names[-1])
