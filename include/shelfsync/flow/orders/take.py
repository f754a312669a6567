"""take: order events out of the inbox, applied in bulk; the inbox keeps that they came, and nobody's phone number.

An event that fails, whatever it raises, is set aside and stops no other. It keeps its reason, and its body until `shelfsync inbox replay`
or until its customer's time has come.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import metrics
from shelfsync.flow.orders.apply import Telling, apply_each
from shelfsync.flow.orders.seal import Seal
from shelfsync.inbox.reading import parse
from shelfsync.inbox.tables import event
from shelfsync.ledger import bulk
from shelfsync.ledger.faults import reason
from shelfsync.ledger.instant import instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts

log = logging.getLogger(__name__)

AT_ONCE = 500
"""Events a transaction."""


def take(parts: Parts) -> dict[str, int]:
    """Applies every order event that waits, in whatever order they came: `{"events": n, "orders": n, "set_aside": n}`."""
    seal = Seal(parts.settings.orders)
    told = {"events": 0, "set_aside": 0}
    seen: set[str] = set()
    while True:
        with parts.engine.begin() as connection:
            rows = _waiting(connection)
            orders, set_aside = _applied(parts, connection, rows, seal)
        for event_id, why in set_aside.items():
            log.error("take: event %d is set aside: %s", event_id, why)
        told["events"] += len(rows)
        told["set_aside"] += len(set_aside)
        seen |= orders
        if len(rows) < AT_ONCE:
            metrics.count("take.events", told["events"])
            metrics.count("take.set_aside", told["set_aside"])
            return told | {"orders": len(seen)}


def _waiting(connection: Connection) -> Sequence[Any]:
    """The longest waiting ones; nobody else gets these at the same time."""
    found = sa.select(event.c.event_id, event.c.body).where(event.c.kind == "order", event.c.processed_at.is_(None))
    return connection.execute(found.order_by(event.c.event_id).limit(AT_ONCE).with_for_update(skip_locked=True)).all()


def _applied(
    parts: Parts, connection: Connection, rows: Sequence[Any], seal: Seal
) -> tuple[frozenset[str], dict[int, str]]:
    """(orders that were told of, event -> why it is set aside)."""
    tellings: dict[int, Telling] = {}
    set_aside: dict[int, str] = {}
    for row in rows:
        try:
            tellings[row.event_id] = Telling.of(parse(bytes(row.body)), "event", event_id=row.event_id)
        except Exception as error:  # noqa: BLE001  one strange body stops no other, whatever it raises
            set_aside[row.event_id] = reason(error)
    now, failed = apply_each(parts, connection, list(tellings.values()), seal)
    for one, why in failed:
        assert one.event_id is not None, "it came as an event"
        set_aside[one.event_id] = why
        del tellings[one.event_id]
    _mark(connection, [{"event_id": event_id, "body": one.text.encode()} for event_id, one in tellings.items()])
    _mark(connection, [{"event_id": event_id, "set_aside": why} for event_id, why in set_aside.items()])
    return frozenset(now), set_aside


def _mark(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Nothing more follows from these. Of a body that was applied only what tells of nobody stays; one that is set aside stays whole."""
    if rows:
        connection.execute(bulk.update(event, "event_id", rows).values(processed_at=instant()))
