"""take: order events out of the inbox, applied; the inbox keeps that they came, and nobody's phone number."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from partner_api import reading
from shelfsync.errors import DataError
from shelfsync.flow.orders.apply import apply
from shelfsync.inbox.tables import event
from shelfsync.ledger.instant import instant
from shelfsync.ledger.orders import lock_all
from shelfsync.orders.personal import parted
from shelfsync.orders.reading import as_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts

log = logging.getLogger(__name__)

AT_ONCE = 100
"""Events a transaction."""


def take(parts: Parts) -> dict[str, int]:
    """Applies every order event that waits, in whatever order they came: `{"events": n, "orders": n, "unreadable": n}`."""
    told = {"events": 0, "orders": 0, "unreadable": 0}
    seen: set[str] = set()
    while True:
        with parts.engine.begin() as connection:
            rows = _waiting(connection)
            bodies = [(row.event_id, reading.mapping(reading.json_or_none(bytes(row.body)))) for row in rows]
            lock_all(connection, {order_id for _, raw in bodies if (order_id := reading.text(raw, "order_id"))})
            for event_id, raw in bodies:
                try:
                    with connection.begin_nested():
                        seen.add(apply(parts, connection, raw, "event", event_id=event_id).order_id)
                except (DataError, sa.exc.DataError) as error:  # one strange body stops no other
                    log.error("take: event %d cannot be applied: %s", event_id, type(error).__name__)  # noqa: TRY400  its text may quote the body
                    told["unreadable"] += 1
                _done(connection, event_id, raw)
            told["events"] += len(rows)
        if len(rows) < AT_ONCE:
            return told | {"orders": len(seen)}


def _waiting(connection: Connection) -> Sequence[Any]:
    """Nobody else gets these at the same time."""
    found = sa.select(event.c.event_id, event.c.body).where(event.c.kind == "order", event.c.processed_at.is_(None))
    return connection.execute(found.order_by(event.c.event_id).limit(AT_ONCE).with_for_update(skip_locked=True)).all()


def _done(connection: Connection, event_id: int, raw: dict[str, Any]) -> None:
    """Its consequences are drawn; of its body only what tells of nobody stays."""
    harmless = as_json(parted(raw)[0]).encode()
    values = {"processed_at": instant(), "body": harmless}
    connection.execute(event.update().where(event.c.event_id == event_id).values(values))
