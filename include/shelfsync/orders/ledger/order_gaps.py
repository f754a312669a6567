"""Orders that only the history reports: an order without an event is a gap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.orders.ledger.tables import order_day, order_gap, order_version
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.engine import Connection


def first_event() -> sa.Select[Any]:
    """A statement for the time of the first event. Older orders are older than this installation.

    `event` is literal, because a plan with a parameter cannot use the partial index of events.
    """
    return sa.select(sa.func.min(order_version.c.seen_at)).where(order_version.c.source == sa.literal_column("'event'"))


def first_event_at(connection: Connection) -> dt.datetime | None:
    """The time of the first event; None without an event."""
    seen_at: dt.datetime | None = connection.execute(first_event()).scalar_one()
    return seen_at


def record_gap(
    connection: Connection,
    order_id: str,
    *,
    vendor: str,
    placed_at: dt.datetime | None,
    status: str,
    first_event_at: dt.datetime | None,
) -> bool:
    """Records an order without an event; True if it is a new gap. An order older than the first event is no gap."""
    if first_event_at is None or placed_at is None or placed_at < first_event_at:
        return False
    events = sa.select(order_version.c.version_id).where(
        order_version.c.order_id == order_id, order_version.c.source == "event"
    )
    if connection.execute(events.limit(1)).one_or_none() is not None:
        return False
    values = {
        "order_id": order_id,
        "vendor": vendor,
        "placed_at": placed_at,
        "status": status,
        "found_at": instant(),
    }
    insertion = insert(order_gap).values(values).on_conflict_do_nothing().returning(order_gap.c.order_id)
    return connection.execute(insertion).one_or_none() is not None


def gaps(connection: Connection, *, days: int) -> list[dict[str, Any]]:
    """(vendor, day, in_history, in_inbox, repaired) of the last days that have orders without an event."""
    recent = order_day.c.day > sa.cast(sa.func.timezone("UTC", instant()), sa.Date) - days
    query = sa.select(order_day).where(recent, order_day.c.repaired > 0)
    rows = connection.execute(query.order_by(order_day.c.day.desc(), order_day.c.vendor).limit(200))
    return [dict(row) for row in rows.mappings()]
