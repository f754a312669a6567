"""What people see of orders: lists, one order whole, today. Nothing in it tells who a customer is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.inbox import events
from shelfsync.ledger import handovers, order_alarms, order_history, picking
from shelfsync.ledger.instant import instant
from shelfsync.ledger.order_tables import customer_order as ledger_order
from shelfsync.ledger.order_tables import hand_over, order_version, picking_result
from shelfsync.warehouse.order_tables import customer_order, order_item

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts

_OPEN = ("RECEIVED", "ACCEPTED")
_SET_ASIDE_MAX = 100


def orders(parts: Parts, *, vendor: str | None, only_open: bool, limit: int) -> list[dict[str, Any]]:
    """The last orders, newest first: where each is, whether the store has it, what became of its last result."""
    found = _listed().order_by(customer_order.c.placed_at.desc().nulls_last(), customer_order.c.order_id).limit(limit)
    if vendor is not None:
        found = found.where(customer_order.c.vendor == vendor)
    if only_open:
        found = found.where(customer_order.c.status.in_(_OPEN))
    with parts.engine.connect() as connection:
        return [dict(row) for row in connection.execute(found).mappings()]


def order(parts: Parts, name: str) -> dict[str, Any] | None:
    """One order; `name`: its order_id, its external number, or the short code of the newest that has it."""
    if "\x00" in name or not name.isprintable():
        return None  # no order is called so, and a database refuses even the question
    with parts.engine.connect() as connection:
        mine = sa.or_(
            customer_order.c.order_id == name.strip().lower(),
            customer_order.c.external_order_id == name.strip(),
            customer_order.c.order_code == name.strip(),
        )
        newest = _listed().where(mine).order_by(customer_order.c.placed_at.desc().nulls_last()).limit(1)
        row = connection.execute(newest).mappings().one_or_none()
        return None if row is None else dict(row) | _whole(connection, row["order_id"])


def today(parts: Parts) -> dict[str, Any]:
    """Orders placed since midnight (UTC) or still open, alarms that last, and how far each store's history is known."""
    midnight = sa.func.date_trunc("day", instant(), "UTC")
    found = _listed().where(sa.or_(customer_order.c.placed_at >= midnight, customer_order.c.status.in_(_OPEN)))
    settings = parts.settings.orders
    with parts.engine.connect() as connection:
        rows = connection.execute(found.order_by(customer_order.c.placed_at.desc().nulls_last()).limit(1000)).mappings()
        waiting = handovers.oldest_not_taken(connection, late_h=settings.late_h) if settings.owes_orders else ()
        return {
            "orders": [dict(row) for row in rows],
            "not_taken": [dict(row._mapping) for row in waiting],  # noqa: SLF001  SQLAlchemy's public name
            "gaps": order_history.gaps(connection, days=7),
            "alarms": order_alarms.lasting(connection),
            "set_aside": events.orders_set_aside(connection, at_most=_SET_ASIDE_MAX),
            "results_set_aside": [row._asdict() for row in picking.all_set_aside(connection, at_most=_SET_ASIDE_MAX)],
            "history": [dict(row._mapping) for row in order_history.standing(connection)],  # noqa: SLF001
        }


def _listed() -> sa.Select[Any]:
    given = (
        sa.select(hand_over.c.state)
        .where(hand_over.c.order_id == customer_order.c.order_id, hand_over.c.kind == "new")
        .scalar_subquery()
    )
    newest = (
        sa.select(picking_result.c.result_no)
        .where(picking_result.c.order_id == customer_order.c.order_id)
        .order_by(picking_result.c.result_no.desc())
        .limit(1)
        .scalar_subquery()
    )
    last = picking_result.alias("last")
    items = sa.select(sa.func.count()).where(order_item.c.order_id == customer_order.c.order_id).scalar_subquery()
    return (
        sa.select(
            customer_order.c.order_id,
            customer_order.c.vendor,
            customer_order.c.order_code,
            customer_order.c.external_order_id,
            customer_order.c.status,
            customer_order.c.transport_type,
            customer_order.c.order_type,
            customer_order.c.placed_at,
            customer_order.c.promised_for,
            customer_order.c.accepted_for,
            customer_order.c.fulfilled_at,
            customer_order.c.order_total,
            ledger_order.c.first_seen_at,
            given.label("handed_over"),
            items.label("items"),
            last.c.action.label("result"),
            last.c.state.label("result_state"),
            last.c.error.label("result_error"),
        )
        .join(ledger_order, ledger_order.c.order_id == customer_order.c.order_id)
        .outerjoin(last, last.c.result_no == newest)
    )


def _whole(connection: Connection, order_id: str) -> dict[str, Any]:
    items = sa.select(order_item).where(order_item.c.order_id == order_id).order_by(order_item.c.position)
    versions = sa.select(
        order_version.c.source, order_version.c.status, order_version.c.updated_at, order_version.c.seen_at
    ).where(order_version.c.order_id == order_id)
    told = sa.select(
        hand_over.c.hand_over_id,
        hand_over.c.kind,
        hand_over.c.state,
        hand_over.c.attempts,
        hand_over.c.written_at,
        hand_over.c.taken_at,
        hand_over.c.error,
    ).where(hand_over.c.order_id == order_id)
    return {
        "lines": [dict(row) for row in connection.execute(items).mappings()],
        "results": picking.of_order(connection, order_id),
        "hand_overs": [dict(row) for row in connection.execute(told.order_by(hand_over.c.hand_over_id)).mappings()],
        "versions": [dict(row) for row in connection.execute(versions.order_by(order_version.c.version_id)).mappings()],
    }
