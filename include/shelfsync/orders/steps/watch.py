"""watch: raises one alarm for each stall, and counts what waits for the status.

It watches four things: orders that no store takes, orders that are late or not picked, results that do not reach the
platform, and history that will soon be lost.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import display, metrics
from shelfsync.alerts.ledger import alerts
from shelfsync.inbox import events
from shelfsync.orders.ledger import handovers, not_taken, orders, picking
from shelfsync.orders.ledger import history_window as order_history
from shelfsync.orders.ledger.tables import customer_order
from shelfsync.orders.steps.overdue import overdue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.settings import OrdersSettings

log = logging.getLogger(__name__)

_DAY_S = 86_400.0
KINDS = ("not_taken", "missed", "overdue", "not_sent", "quarantined", "unreadable", "history")
"""The kinds of alerts that the steps of orders open and close."""


def quarantine_alarms(connection: Connection) -> tuple[dict[tuple[str, str], str], dict[tuple[str, str], int]]:
    """(kind, subject) -> message, and the number of the newest: one for all events and one for all results. Sets their gauges."""
    alarms: dict[tuple[str, str], str] = {}
    revisions: dict[tuple[str, str], int] = {}
    count, newest = events.count_quarantined_orders(connection)
    metrics.gauge("orders.events_quarantined", count)
    for event in events.quarantined_orders(connection, at_most=1):
        revisions["quarantined", "events"] = newest or 0
        alarms["quarantined", "events"] = (
            f"{count} order events could not be applied and are quarantined, the oldest is {event['event_id']}: {event['quarantine_reason']}"
            f" (`shelfsync inbox list --quarantined`; after the repair: `shelfsync inbox replay {event['event_id']}`)"
        )
    count, newest = picking.count_quarantined_results(connection)
    metrics.gauge("orders.results_quarantined", count)
    for row in picking.quarantined_results(connection, at_most=1):
        revisions["quarantined", "results"] = newest or 0
        alarms["quarantined", "results"] = (
            f"{count} picking results could not be processed and are quarantined, the oldest is {row.result_id} of order {row.order_id}: "
            f"{row.error} (after the repair: `shelfsync orders retry {row.order_id}`)"
        )
    return alarms, revisions


def watch_stores(context: Context) -> list[str]:
    """Returns the messages of new alarms: orders not taken or not picked, results not sent, quarantined ones."""
    settings = context.settings.orders
    with context.engine.begin() as connection:
        alarms: dict[tuple[str, str], str] = {}
        hands_over = settings.hands_over
        waiting = not_taken.oldest_not_taken(connection, late_hours=settings.late_hours) if settings.owes_orders else ()
        if waiting and not hands_over:
            alarms["not_taken", ""] = _no_way(sum(row.orders for row in waiting))
        for row in waiting if hands_over else ():
            if float(row.age_s) > settings.take_within_s:
                alarms["not_taken", row.vendor or ""] = _not_taken(row)
        for row in handovers.missed(connection, late_hours=settings.late_hours) if hands_over else ():
            alarms["missed", row.vendor or ""] = (
                f"{_store(row)}: {row.orders} open orders are too late to be handed over, the oldest was promised for "
                f"{display.minute(row.promised_for)}. Their customers wait: pick or cancel them (`shelfsync orders list --open`)."
            )
        late = (
            overdue(connection, take_within_s=settings.take_within_s, late_hours=settings.late_hours)
            if hands_over
            else ()
        )
        for row in late:
            alarms["overdue", row.vendor or ""] = (
                f"{_store(row)}: {row.orders} orders are taken, past their time, and not picked, the oldest was due at "
                f"{display.minute(row.due)}. Ask the store; a result that is not whole does not count (`shelfsync orders list --open`)."
            )
        results = picking.oldest_not_sent(connection)
        for row in results:
            if row.orders and float(row.age_s) > settings.send_within_s:
                why = f": {row.error}" if row.error else ""
                alarms["not_sent", ""] = (
                    f"{row.orders} picking results have not reached the platform, the oldest for {_minutes(row.age_s)}{why}"
                )
        quarantined, revisions = quarantine_alarms(connection)
        _count(waiting, results)
        kinds = ("not_taken", "missed", "overdue", "not_sent", "quarantined")
        kept = alerts.keep(connection, kinds, alarms | quarantined, revisions=revisions)
    return _logged(kept)


def watch_history(context: Context) -> list[str]:
    """Returns the messages of new alarms: stores whose unread history will soon be out of range."""
    days, wanted = context.settings.orders.history_alarm_days, context.settings.sync.vendors
    with context.engine.begin() as connection:
        alarms = {
            (
                "history",
                row.vendor,
            ): f"store {row.vendor}: its order history is known up to {_day(row.covered_to)} only, and after 60 days "
            f"it cannot be read any more{': ' + row.error if row.error else ''}"
            for row in order_history.progress(connection, wanted)
            if float(row.behind_s) > days * _DAY_S
        }
        kept = alerts.keep(connection, ("history",), alarms)
    return _logged(kept)


def _day(covered_to: Any) -> str:
    return "no day" if covered_to is None else f"{covered_to:%Y-%m-%d}"


def _count(waiting: Sequence[Any], results: Sequence[Any]) -> None:
    """Sets the gauges."""
    metrics.gauge("orders.not_taken", sum(row.orders for row in waiting))
    metrics.gauge("orders.not_taken_oldest_s", max((float(row.age_s) for row in waiting), default=0.0))
    metrics.gauge("orders.not_sent", sum(row.orders for row in results))
    metrics.gauge("orders.not_sent_oldest_s", max((float(row.age_s or 0) for row in results), default=0.0))


def _no_way(orders: int) -> str:
    return (
        f"{orders} open orders reach no store: no way to the stores is set. Set the channel to your stores, or none if they receive orders"
        " elsewhere (SHELFSYNC_ORDERS__HAND_OVER: docs/how-to/orders.md)."
    )


def _not_taken(row: Any) -> str:
    what = f"{_store(row)}: {row.orders} orders are not taken, the oldest for {_minutes(row.age_s)}"
    if row.unknown:
        return (
            f"{what}. One has a status that the platform's interface does not name, so no store gets it. Ask the platform's support what it"
            f" means (`shelfsync orders show {row.unknown}`)."
        )
    if row.vendor is None:
        return f"{what}. The platform has not reported their store: look at their events, and ask its support."
    if row.error:
        return f"{what}: they could not be handed over: {row.error}"
    return f"{what}. Check that the store's system reads the handed-over documents."


def _store(row: Any) -> str:
    return f"store {row.vendor}" if row.vendor else "no store"


def _minutes(age_s: Any) -> str:
    return f"{float(age_s) / 60:.0f} minutes"


def _logged(kept: alerts.Kept) -> list[str]:
    new = [one.line for one in kept.opened]
    for message in new:
        log.error("watch: %s", message)
    return new


def order_gauges(connection: Connection, settings: OrdersSettings) -> dict[str, Any]:
    """`{"open", "not_taken", "oldest_not_taken_s", "not_sent", "oldest_not_sent_s", "alarms": [...]}`.

    Ages are in seconds, None if nothing waits. `alarms`: the messages of open alarms.
    """
    is_open = customer_order.c.status.in_(orders.OPEN)
    count = connection.execute(sa.select(sa.func.count()).select_from(customer_order).where(is_open)).scalar_one()
    waiting = not_taken.oldest_not_taken(connection, late_hours=settings.late_hours) if settings.owes_orders else ()
    (results,) = picking.oldest_not_sent(connection)
    return {
        "open": count,
        "not_taken": sum(row.orders for row in waiting),
        "oldest_not_taken_s": max((float(row.age_s) for row in waiting), default=None),
        "not_sent": results.orders,
        "oldest_not_sent_s": None if results.age_s is None else float(results.age_s),
        "alarms": [row["line"] for row in alerts.open_alerts(connection, KINDS)],
    }
