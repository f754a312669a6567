"""watch: orders that no store takes, results that do not reach the platform, history that is about to be lost. One alarm a stall."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from shelfsync.ledger import handovers, order_alarms, order_history, picking

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts

log = logging.getLogger(__name__)

_DAY_S = 86_400.0


def watch_stores(parts: Parts) -> list[str]:
    """The alarms that are new: orders not taken, results not sent."""
    settings = parts.settings.orders
    with parts.engine.begin() as connection:
        found: dict[tuple[str, str], str] = {}
        for row in handovers.oldest_not_taken(connection):
            if float(row.age_s) > settings.take_within_s:
                what = f"store {row.vendor}: {row.orders} orders are not taken, the oldest for {_minutes(row.age_s)}"
                found["not_taken", row.vendor or ""] = (
                    f"{what}. Look whether the store's system reads what is handed over."
                )
        for row in picking.oldest_not_sent(connection):
            if row.orders and float(row.age_s) > settings.send_within_s:
                why = f": {row.error}" if row.error else ""
                found["not_sent", ""] = (
                    f"{row.orders} picking results have not reached the platform, the oldest for {_minutes(row.age_s)}{why}"
                )
        new = order_alarms.keep(connection, ("not_taken", "not_sent"), found)
    return _told(new)


def watch_history(parts: Parts) -> list[str]:
    """The alarms that are new: stores whose history nobody knows for so long that it will be out of reach."""
    days = parts.settings.orders.history_alarm_days
    with parts.engine.begin() as connection:
        found = {
            (
                "history",
                row.vendor,
            ): f"store {row.vendor}: its order history is known up to {row.covered_to:%Y-%m-%d} only, and after 60 days "
            f"it cannot be read any more{': ' + row.error if row.error else ''}"
            for row in order_history.standing(connection)
            if row.covered_to is not None and float(row.behind_s) > days * _DAY_S
        }
        new = order_alarms.keep(connection, ("history",), found)
    return _told(new)


def _minutes(age_s: Any) -> str:
    return f"{float(age_s) / 60:.0f} minutes"


def _told(new: list[str]) -> list[str]:
    for message in new:
        log.error("watch: %s", message)
    return new
