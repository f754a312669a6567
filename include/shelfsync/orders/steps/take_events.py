"""take: applies order events from the inbox in bulk. The inbox keeps their harmless parts.

An event that raises is quarantined with its reason and stops no other. It keeps its body until `shelfsync inbox replay` or the end of the
retention time of personal data. `waiting_work` waits for events and picking results. It only reads, so it can stop and start at any time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import InterfaceError, OperationalError

from shelfsync import metrics
from shelfsync.inbox.event_body import parse
from shelfsync.inbox.events import ORDER_CHANNEL, event, forget_identities, subscribed
from shelfsync.orders.encryption import CustomerCipher
from shelfsync.orders.ledger.tables import picking_result
from shelfsync.orders.steps.apply import ReceivedOrder, apply_each
from shelfsync.orders.warehouse import record as warehouse
from shelfsync.store import bulk
from shelfsync.store.engine import libpq_url, reason
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context


log = logging.getLogger(__name__)

AT_ONCE = 500
"""Events in one transaction."""


def take(context: Context) -> dict[str, int]:
    """Applies every unprocessed order event: `{"events": n, "orders": n, "quarantined": n}`."""
    cipher = CustomerCipher(context.settings.orders)
    counts = {"events": 0, "quarantined": 0}
    seen: set[str] = set()
    while True:
        with context.engine.begin() as connection:
            rows = _waiting(connection)
            orders, quarantined = _applied(context, connection, rows, cipher)
        for event_id, why in quarantined.items():
            log.error("take: event %d is quarantined: %s", event_id, why)
        counts["events"] += len(rows)
        counts["quarantined"] += len(quarantined)
        seen |= orders
        if len(rows) < AT_ONCE:
            metrics.count("take.events", counts["events"])
            metrics.count("take.quarantined", counts["quarantined"])
            return counts | {"orders": len(seen)}


def _waiting(connection: Connection) -> Sequence[Any]:
    """The longest waiting events, locked against other processes."""
    query = sa.select(event.c.event_id, event.c.body, event.c.received_at).where(
        event.c.kind == "order", event.c.processed_at.is_(None)
    )
    return connection.execute(query.order_by(event.c.event_id).limit(AT_ONCE).with_for_update(skip_locked=True)).all()


def _applied(
    context: Context, connection: Connection, rows: Sequence[Any], cipher: CustomerCipher
) -> tuple[frozenset[str], dict[int, str]]:
    """(changed orders, event_id -> why it is quarantined)."""
    received: dict[int, ReceivedOrder] = {}
    quarantined: dict[int, str] = {}
    for row in rows:
        try:
            order = ReceivedOrder.parse(parse(bytes(row.body)), "event", row.received_at, event_id=row.event_id)
            received[row.event_id] = order
            if odd := order.version.not_believed:
                log.warning("take: event %d: %s not near its receipt: not used", row.event_id, " and ".join(odd))
        except Exception as error:  # noqa: BLE001  one faulty body stops no other, whatever it raises
            quarantined[row.event_id] = reason(error)
    now, failed = apply_each(context, connection, list(received.values()), cipher)
    for order, why in failed:
        assert order.event_id is not None, "it is from an event"
        quarantined[order.event_id] = why
        del received[order.event_id]
    _mark(connection, [{"event_id": event_id, "body": order.text.encode()} for event_id, order in received.items()])
    _mark(connection, [{"event_id": event_id, "quarantine_reason": why} for event_id, why in quarantined.items()])
    forgotten = warehouse.forgotten(connection, now)
    forget_identities(connection, [event_id for event_id, order in received.items() if order.order_id in forgotten])
    return frozenset(now), quarantined


def _mark(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Marks them as processed. An applied body keeps only its harmless part; a quarantined one stays complete."""
    if rows:
        connection.execute(bulk.update(event, "event_id", rows).values(processed_at=instant()))


LOOK_AGAIN_S = 15.0
"""A notification may be lost: the wait reads the tables first, and again after this time."""


async def waiting_work(context: Context) -> AsyncIterator[int]:
    """Yields the number of unprocessed events and results at the start, and after each new one."""
    last_seen = (0, 0)
    async with subscribed(libpq_url(context.engine), ORDER_CHANNEL) as subscription:
        while True:
            subscription.look()
            with contextlib.suppress(OperationalError, InterfaceError):  # the database is unavailable: try again
                newest, waiting = await asyncio.to_thread(_waiting_now, context)
                if waiting and (newest[0] > last_seen[0] or newest[1] > last_seen[1]):
                    last_seen = newest
                    yield waiting
            await subscription.pause(LOOK_AGAIN_S, jobs=None)


def _waiting_now(context: Context) -> tuple[tuple[int, int], int]:
    """((newest event_id, newest result_no) of the unprocessed ones, how many there are)."""
    events = sa.select(sa.func.coalesce(sa.func.max(event.c.event_id), 0), sa.func.count()).where(
        event.c.kind == "order", event.c.processed_at.is_(None)
    )
    results = sa.select(sa.func.coalesce(sa.func.max(picking_result.c.result_no), 0), sa.func.count()).where(
        picking_result.c.state == "waiting"
    )
    with context.engine.connect() as connection:
        (event_id, events_waiting), (result_no, results_waiting) = (
            connection.execute(query).one() for query in (events, results)
        )
    return (event_id, result_no), events_waiting + results_waiting
