"""watch: orders that no store takes, that came too late for one or that nobody picks, results that do not reach the platform, history that is about to be lost. One alarm a stall."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from shelfsync import metrics
from shelfsync.flow.orders.overdue import overdue
from shelfsync.flow.orders.set_aside import set_aside
from shelfsync.ledger import handovers, order_alarms, order_history, picking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.flow.house import Parts

log = logging.getLogger(__name__)

_DAY_S = 86_400.0


def watch_stores(parts: Parts) -> list[str]:
    """The alarms that are new: orders not taken or not picked, results not sent, what is set aside."""
    settings = parts.settings.orders
    with parts.engine.begin() as connection:
        found: dict[tuple[str, str], str] = {}
        hands_over = settings.hands_over
        waiting = handovers.oldest_not_taken(connection, late_h=settings.late_h) if settings.owes_orders else ()
        if waiting and not hands_over:
            found["not_taken", ""] = _no_way(sum(row.orders for row in waiting))
        for row in waiting if hands_over else ():
            if float(row.age_s) > settings.take_within_s:
                found["not_taken", row.vendor or ""] = _not_taken(row)
        for row in handovers.missed(connection, late_h=settings.late_h) if hands_over else ():
            found["missed", row.vendor or ""] = (
                f"{_store(row)}: {row.orders} open orders are too late to be handed over, the oldest was promised for "
                f"{row.promised_for:%Y-%m-%d %H:%M} UTC. Their customers wait: pick or cancel them (shelfsync orders list --open)."
            )
        late = overdue(connection, take_within_s=settings.take_within_s, late_h=settings.late_h) if hands_over else ()
        for row in late:
            found["overdue", row.vendor or ""] = (
                f"{_store(row)}: {row.orders} orders are taken, past their time, and not picked, the oldest was due at "
                f"{row.due:%Y-%m-%d %H:%M} UTC. Ask the store; a result that is not whole does not count (shelfsync orders list --open)."
            )
        results = picking.oldest_not_sent(connection)
        for row in results:
            if row.orders and float(row.age_s) > settings.send_within_s:
                why = f": {row.error}" if row.error else ""
                found["not_sent", ""] = (
                    f"{row.orders} picking results have not reached the platform, the oldest for {_minutes(row.age_s)}{why}"
                )
        found |= set_aside(connection)
        _count(waiting, results)
        new = order_alarms.keep(connection, ("not_taken", "missed", "overdue", "not_sent", "set_aside"), found)
    return _told(new)


def watch_history(parts: Parts) -> list[str]:
    """The alarms that are new: stores whose history nobody knows for so long that it will be out of reach."""
    days = parts.settings.orders.history_alarm_days
    with parts.engine.begin() as connection:
        found = {
            (
                "history",
                row.vendor,
            ): f"store {row.vendor}: its order history is known up to {_day(row.covered_to)} only, and after 60 days "
            f"it cannot be read any more{': ' + row.error if row.error else ''}"
            for row in order_history.standing(connection)
            if float(row.behind_s) > days * _DAY_S
        }
        new = order_alarms.keep(connection, ("history",), found)
    return _told(new)


def _day(covered_to: Any) -> str:
    return "no day" if covered_to is None else f"{covered_to:%Y-%m-%d}"


def _count(waiting: Sequence[Any], results: Sequence[Any]) -> None:
    """What a monitoring system keeps an eye on."""
    metrics.gauge("orders.not_taken", sum(row.orders for row in waiting))
    metrics.gauge("orders.not_taken_oldest_s", max((float(row.age_s) for row in waiting), default=0.0))
    metrics.gauge("orders.not_sent", sum(row.orders for row in results))
    metrics.gauge("orders.not_sent_oldest_s", max((float(row.age_s or 0) for row in results), default=0.0))


def _no_way(orders: int) -> str:
    return (
        f"{orders} open orders reach no store: SHELFSYNC_ORDERS__HAND_OVER is not set. Set it to the way to your stores, "
        "or to none where they learn of orders elsewhere (docs/orders.md)."
    )


def _not_taken(row: Any) -> str:
    what = f"{_store(row)}: {row.orders} orders are not taken, the oldest for {_minutes(row.age_s)}"
    if row.vendor is None:
        return f"{what}. The platform has not told whose they are: look at their events, and ask its support."
    return f"{what}. Look whether the store's system reads what is handed over."


def _store(row: Any) -> str:
    return f"store {row.vendor}" if row.vendor else "no store"


def _minutes(age_s: Any) -> str:
    return f"{float(age_s) / 60:.0f} minutes"


def _told(new: list[str]) -> list[str]:
    for message in new:
        log.error("watch: %s", message)
    return new
