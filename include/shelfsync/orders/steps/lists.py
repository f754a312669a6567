"""The read models of orders for the page and the command line: lists, one order, today. They have no personal data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import display
from shelfsync.alerts.ledger import alerts
from shelfsync.catalog.assortment.product_names import of_skus
from shelfsync.inbox import events
from shelfsync.orders.ledger import handovers, picking
from shelfsync.orders.ledger import history as order_history
from shelfsync.orders.ledger.tables import customer_order as ledger_order
from shelfsync.orders.ledger.tables import hand_over, order_version, picking_result
from shelfsync.orders.order_state import load_version
from shelfsync.orders.steps.watch import KINDS
from shelfsync.orders.warehouse.record import IS_OPEN, customer_order, order_item
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context

_OPEN = ("RECEIVED", "ACCEPTED")
_QUARANTINED_MAX = 100
_OTHERS_MAX = 9
_SHOWN = (
    *("order_id", "vendor", "order_code", "external_order_id", "status", "transport_type", "order_type", "placed_at"),
    *("promised_for", "accepted_for", "fulfilled_at", "order_total"),
)
_placed = sa.func.coalesce(customer_order.c.placed_at, ledger_order.c.first_seen_at)
"""When an order was placed; if no such time is believed: when it was first received."""


def orders(
    context: Context, *, vendor: str | None = None, only_open: bool = False, limit: int = 200
) -> list[dict[str, Any]]:
    """The last orders, newest first, each with its state, its hand-over and its last result."""
    query = _listed().order_by(_placed.desc(), customer_order.c.order_id).limit(limit)
    if vendor is not None:
        query = query.where(customer_order.c.vendor == vendor)
    if only_open:
        query = query.where(customer_order.c.status.in_(_OPEN))
    with context.engine.connect() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def order(context: Context, name: str) -> dict[str, Any] | None:
    """One order; `name`: its order_id, or the external number or short code of the newest that has it.

    `others`: further orders with this number or code, newest first. Stores use the same codes, and use them again.
    """
    if "\x00" in name or not name.isprintable():
        return None  # no order has such a name, and the database rejects such a query
    by_id = customer_order.c.order_id == name.strip().lower()
    named = sa.or_(
        by_id, customer_order.c.external_order_id == name.strip(), customer_order.c.order_code == name.strip()
    )
    newest = _listed().where(named).order_by(by_id.desc(), _placed.desc())
    with context.engine.connect() as connection:
        rows = connection.execute(newest.limit(1 + _OTHERS_MAX)).mappings().all()
        if not rows:
            return None
        order_id = rows[0]["order_id"]
        others = [] if order_id == name.strip().lower() else [_reference(row) for row in rows[1:]]
        found = dict(rows[0]) | _whole(connection, order_id) | {"others": others}
    _name(context, found)
    return found


def _name(context: Context, order: dict[str, Any]) -> None:
    """Gives each line, and each item of a feedback, the name of its product: the platform's, or else the ERP's."""
    feedbacks = [item for result in order["results"] for item in (result["feedback"] or {}).get("items", ())]
    shown = [*order["lines"], *feedbacks]
    names = of_skus(context, order["vendor"], {row["sku"] for row in shown}) if order["vendor"] else {}
    names |= {row["sku"]: row["name"] for row in order["lines"] if row["name"] not in {None, "", row["sku"]}}
    for row in shown:
        row["name"] = names.get(row["sku"])


def references(context: Context, order_ids: Sequence[str]) -> list[dict[str, Any]]:
    """`order_id`, `vendor` and `placed_at` of these orders, newest first."""
    query = sa.select(customer_order).where(customer_order.c.order_id.in_(order_ids))
    with context.engine.connect() as connection:
        rows = connection.execute(query.order_by(customer_order.c.placed_at.desc().nulls_last())).mappings()
        return [_reference(row) for row in rows]


def results(context: Context, order_id: str) -> list[dict[str, Any]]:
    """The results of an order, also of an unknown one, with their outcomes."""
    with context.engine.connect() as connection:
        return picking.of_order(connection, order_id.strip().lower())


def today(context: Context) -> dict[str, Any]:
    """Orders placed since midnight (UTC) or still open, open alarms, and how far each store's history is known."""
    midnight = sa.func.date_trunc("day", instant(), "UTC")
    ids = sa.select(customer_order.c.order_id)
    may_be = sa.union(  # each by an index: a chain has millions of older orders
        ids.where(customer_order.c.placed_at >= midnight),
        ids.where(customer_order.c.placed_at.is_(None)),
        ids.where(sa.text(IS_OPEN)),
    )
    query = _listed().where(customer_order.c.order_id.in_(may_be))
    query = query.where(sa.or_(_placed >= midnight, customer_order.c.status.in_(_OPEN)))
    settings = context.settings.orders
    with context.engine.connect() as connection:
        rows = connection.execute(query.order_by(_placed.desc()).limit(1000)).mappings()
        waiting = handovers.oldest_not_taken(connection, late_hours=settings.late_hours) if settings.owes_orders else ()
        return {
            "orders": [dict(row) for row in rows],
            "not_taken": [dict(row._mapping) for row in waiting],  # noqa: SLF001  SQLAlchemy's public name
            "gaps": order_history.gaps(connection, days=7),
            "alarms": alerts.open_alerts(connection, KINDS),
            "quarantined_events": events.quarantined_orders(connection, at_most=_QUARANTINED_MAX),
            "quarantined_results": [
                row._asdict() for row in picking.quarantined_results(connection, at_most=_QUARANTINED_MAX)
            ],
            "history": [dict(row._mapping) for row in order_history.progress(connection)],  # noqa: SLF001
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
            *(customer_order.c[name] for name in _SHOWN),
            *(ledger_order.c[name] for name in ("first_seen_at", "has_odd_time")),
            given.label("handed_over"),
            items.label("items"),
            last.c.action.label("result"),
            last.c.state.label("result_state"),
            last.c.error.label("result_error"),
        )
        .join(ledger_order, ledger_order.c.order_id == customer_order.c.order_id)
        .outerjoin(last, last.c.result_no == newest)
    )


def _reference(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("order_id", "vendor", "placed_at")}


def _whole(connection: Connection, order_id: str) -> dict[str, Any]:
    items = sa.select(order_item).where(order_item.c.order_id == order_id).order_by(order_item.c.position)
    seen = [order_version.c[name] for name in ("source", "status", "updated_at", "seen_at", "body")]
    versions = sa.select(*seen).where(order_version.c.order_id == order_id).order_by(order_version.c.version_id)
    handed = ("hand_over_id", "kind", "state", "attempts", "written_at", "taken_at", "error")
    hand_overs = sa.select(*(hand_over.c[name] for name in handed)).where(hand_over.c.order_id == order_id)
    return {
        "lines": [dict(row) for row in connection.execute(items).mappings()],
        "results": picking.of_order(connection, order_id),
        "hand_overs": [
            dict(row) for row in connection.execute(hand_overs.order_by(hand_over.c.hand_over_id)).mappings()
        ],
        "versions": [_version(row) for row in connection.execute(versions).mappings()],
    }


def _version(row: Mapping[Any, Any]) -> dict[str, Any]:
    """`not_believed`: a line about each of its times that is not used."""
    times = load_version(row["body"], row["source"], row["seen_at"]).not_believed
    lines = [
        f"{name} {display.instant(at) if at else '(unreadable)'} is not near the receipt: not used"
        for name, at in times.items()
    ]
    return {name: row[name] for name in ("source", "status", "updated_at", "seen_at")} | {"not_believed": lines}
