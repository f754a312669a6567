"""take: order events out of the inbox, applied in bulk; the inbox keeps that they came, and nobody's phone number.

A body that is no order is set aside. A batch that fails is applied in halves, down to the one event that makes it fail: that one is set
aside too. What is set aside keeps its reason and its body until `shelfsync inbox replay`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import metrics
from shelfsync.flow.orders.apply import Telling, apply_all
from shelfsync.flow.orders.seal import Seal
from shelfsync.inbox.reading import parse
from shelfsync.inbox.tables import event
from shelfsync.ledger import bulk
from shelfsync.ledger.faults import is_database_trouble, reason
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
    batches = _Batches(parts, Seal(parts.settings.orders))
    while event_ids := batches.waiting():
        batches.take(event_ids)
        if len(event_ids) < AT_ONCE:
            break
    metrics.count("take.events", batches.events)
    metrics.count("take.set_aside", batches.set_aside)
    return {"events": batches.events, "orders": len(batches.orders), "set_aside": batches.set_aside}


class _Batches:
    """What one call has done so far."""

    def __init__(self, parts: Parts, seal: Seal) -> None:
        self._parts = parts
        self._seal = seal
        self.events = 0
        self.set_aside = 0
        self.orders: set[str] = set()

    def waiting(self) -> Sequence[int]:
        """The longest waiting events that no other process works on."""
        with self._parts.engine.begin() as connection:
            found = _open().with_only_columns(event.c.event_id).order_by(event.c.event_id).limit(AT_ONCE)
            return connection.execute(found.with_for_update(skip_locked=True)).scalars().all()

    def take(self, event_ids: Sequence[int]) -> None:
        """Applies these in one transaction, or where that fails in two."""
        try:
            with self._parts.engine.begin() as connection:
                told = self._apply(connection, event_ids)
        except Exception as error:
            if is_database_trouble(error):
                raise
            if len(event_ids) > 1:
                middle = len(event_ids) // 2
                self.take(event_ids[:middle])
                self.take(event_ids[middle:])
                return
            why = {event_ids[0]: reason(error)}
            with self._parts.engine.begin() as connection:
                told = _Told(0, frozenset(), why if _held(connection, event_ids) else {})
                _put_aside(connection, told.set_aside)
        for event_id, why_not in told.set_aside.items():
            log.error("take: event %d is set aside: %s", event_id, why_not)
        self.events += told.applied + len(told.set_aside)
        self.set_aside += len(told.set_aside)
        self.orders |= told.orders

    def _apply(self, connection: Connection, event_ids: Sequence[int]) -> _Told:
        """Of the body of an event that is applied only what tells of nobody stays."""
        tellings: list[Telling] = []
        set_aside: dict[int, str] = {}
        for row in _held(connection, event_ids):
            try:
                tellings.append(Telling.of(parse(bytes(row.body)), "event", event_id=row.event_id))
            except Exception as error:  # noqa: BLE001  one strange body stops no other, whatever it raises
                set_aside[row.event_id] = reason(error)
        _put_aside(connection, set_aside)
        if not tellings:
            return _Told(0, frozenset(), set_aside)
        states = apply_all(self._parts, connection, tellings, self._seal)
        done = bulk.update(
            event, "event_id", [{"event_id": one.event_id, "body": one.text.encode()} for one in tellings]
        )
        connection.execute(done.values(processed_at=instant()))
        return _Told(len(tellings), frozenset(states), set_aside)


@dataclass(frozen=True)
class _Told:
    """What became of a batch: events applied, their orders, and why the others are set aside."""

    applied: int
    orders: frozenset[str]
    set_aside: dict[int, str]


def _open() -> sa.Select[Any]:
    return sa.select(event.c.event_id, event.c.body).where(event.c.kind == "order", event.c.processed_at.is_(None))


def _held(connection: Connection, event_ids: Sequence[int]) -> Sequence[Any]:
    """Those of them that still wait; nobody else gets these at the same time."""
    mine = _open().where(bulk.among(event.c.event_id, event_ids)).order_by(event.c.event_id)
    return connection.execute(mine.with_for_update(skip_locked=True)).all()


def _put_aside(connection: Connection, set_aside: dict[int, str]) -> None:
    """Their bodies stay whole, so that they can be replayed; housekeeping removes them when their customers' time has come."""
    if set_aside:
        rows = [{"event_id": event_id, "set_aside": why} for event_id, why in set_aside.items()]
        connection.execute(bulk.update(event, "event_id", rows).values(processed_at=instant()))
