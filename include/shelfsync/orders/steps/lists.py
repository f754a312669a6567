"""The read models of orders for the page and the command line: lists, today. They have no personal data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.alerts.ledger import alerts
from shelfsync.inbox import events
from shelfsync.orders.ledger import history_window as order_history
from shelfsync.orders.ledger import not_taken, order_gaps, picking
from shelfsync.orders.steps.watch import KINDS
from shelfsync.orders.warehouse.record import IS_OPEN, PLACED, customer_order
from shelfsync.store.keyset_list import KeysetList, Order, page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shelfsync.context import Context

_QUARANTINED_MAX = 100
_STORES_MAX = 50
_COUNT = f"SELECT count(*) FROM warehouse.customer_order WHERE {IS_OPEN}"  # noqa: S608  of constants

ORDERS = KeysetList(
    f"""(
    SELECT o.order_id, o.vendor, o.order_code, o.external_order_id, o.status, o.transport_type, o.order_type, o.placed_at, o.updated_at,
        o.promised_for, o.accepted_for, o.fulfilled_at, o.order_total,
        CASE WHEN o.status <> 'CANCELLED' THEN o.order_total - o.sub_total END AS fees, {PLACED.format("o.")} AS listed_at,
        known.first_seen_at, known.has_odd_time, last.action AS result, last.state AS result_state, last.error AS result_error,
        (SELECT state FROM ledger.hand_over AS given WHERE given.order_id = o.order_id AND given.kind = 'new') AS handed_over,
        (SELECT count(*) FROM warehouse.order_item AS item WHERE item.order_id = o.order_id) AS items
    FROM warehouse.customer_order AS o LEFT JOIN LATERAL (
        SELECT first_seen_at, has_odd_time FROM ledger.customer_order AS known WHERE known.order_id = o.order_id LIMIT 1
    ) AS known ON true LEFT JOIN LATERAL (
        SELECT action, state, error FROM ledger.picking_result AS r WHERE r.order_id = o.order_id ORDER BY result_no DESC LIMIT 1
    ) AS last ON true
) AS listed""",  # noqa: S608  of constants
    (
        *(
            "order_id",
            "vendor",
            "order_code",
            "external_order_id",
            "status",
            "transport_type",
            "order_type",
            "placed_at",
        ),
        *("promised_for", "accepted_for", "fulfilled_at", "order_total", "fees", "first_seen_at", "has_odd_time"),
        *("handed_over", "items", "result", "result_state", "result_error", "listed_at"),
    ),
    {
        "vendor": "vendor = :vendor",
        "state": "status = :state",
        "open": f"{IS_OPEN} AND :open <> ''",
        "number": "order_id = lower(:number) OR external_order_id = :number OR order_code = :number",
    },
    {
        "newest": Order((("listed_at", "timestamptz"), ("order_id", "text")), newest_first=True),
        "oldest": Order((("listed_at", "timestamptz"), ("order_id", "text"))),
    },
)
"""Every order. `number`: its order_id, its external number or its short code. `fees`: what customers pay beside the items; a cancelled order is not paid."""


def orders(
    context: Context, *, vendor: str | None = None, only_open: bool = False, limit: int = 200
) -> list[dict[str, Any]]:
    """The last orders, newest first, each with its state, its hand-over and its last result."""
    asked = {"vendor": vendor or "", "open": "yes" if only_open else ""}
    with context.engine.connect() as connection:
        return page(connection, ORDERS, asked, most=limit)


def reference(row: Mapping[Any, Any]) -> dict[str, Any]:
    """What identifies an order to a person."""
    return {name: row[name] for name in ("order_id", "vendor", "placed_at")}


def references(context: Context, order_ids: Sequence[str]) -> list[dict[str, Any]]:
    """`order_id`, `vendor` and `placed_at` of these orders, newest first."""
    query = sa.select(customer_order).where(customer_order.c.order_id.in_(order_ids))
    with context.engine.connect() as connection:
        rows = connection.execute(query.order_by(customer_order.c.placed_at.desc().nulls_last())).mappings()
        return [reference(row) for row in rows]


def results(context: Context, order_id: str) -> list[dict[str, Any]]:
    """The results of an order, also of an unknown one, with their outcomes."""
    with context.engine.connect() as connection:
        return picking.of_order(connection, order_id.strip().lower())


def count_open(context: Context, vendor: str) -> int:
    """How many orders of a store are still to be picked."""
    with context.engine.connect() as connection:
        of_vendor = sa.text(f"{_COUNT} AND vendor = :vendor")
        count: int = connection.execute(of_vendor, {"vendor": vendor}).scalar_one()
    return count


def today(context: Context) -> dict[str, Any]:
    """What needs a person: open alarms, orders that no store has taken, what is quarantined, and how far the history of stores is known.

    `open`: number of open orders. `history`: the stores that are the furthest behind.
    """
    settings = context.settings.orders
    with context.engine.connect() as connection:
        waiting = not_taken.oldest_not_taken(connection, late_hours=settings.late_hours) if settings.owes_orders else ()
        return {
            "open": connection.execute(sa.text(_COUNT)).scalar_one(),
            "not_taken": [dict(row._mapping) for row in waiting],  # noqa: SLF001  SQLAlchemy's public name
            "gaps": order_gaps.gaps(connection, days=7),
            "alarms": alerts.open_alerts(connection, KINDS),
            "quarantined_events": events.quarantined_orders(connection, at_most=_QUARANTINED_MAX),
            "quarantined_results": [
                row._asdict() for row in picking.quarantined_results(connection, at_most=_QUARANTINED_MAX)
            ],
            "history": [
                dict(row._mapping)  # noqa: SLF001
                for row in order_history.progress(connection, context.settings.sync.vendors)[:_STORES_MAX]
            ],
        }
