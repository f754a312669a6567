"""Order events and picking results that could not be processed: what an operator is alarmed of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync import metrics
from shelfsync.inbox import events
from shelfsync.ledger import picking

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


def set_aside(connection: Connection) -> dict[tuple[str, str], str]:
    """(kind, subject) -> message: one alarm for events and one for results, however many they are."""
    found: dict[tuple[str, str], str] = {}
    count = events.count_orders_set_aside(connection)
    metrics.gauge("orders.events_set_aside", count)
    for event in events.orders_set_aside(connection, at_most=1):
        found["set_aside", "events"] = (
            f"{count} order events could not be applied and are set aside, the oldest is {event['event_id']}: {event['set_aside']}. "
            f"See them all: shelfsync inbox list --set-aside; after the repair: shelfsync inbox replay {event['event_id']}"
        )
    count = picking.count_set_aside(connection)
    metrics.gauge("orders.results_set_aside", count)
    for row in picking.all_set_aside(connection, at_most=1):
        found["set_aside", "results"] = (
            f"{count} picking results could not be worked on and are set aside, the oldest is {row.result_id} of order {row.order_id}: "
            f"{row.error}. After the repair: shelfsync orders retry {row.order_id}"
        )
    return found
