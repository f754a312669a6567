"""Waits for unprocessed order events and picking results. It only reads, so it can stop and start at any time.

A notification may be lost: the wait reads the tables first, and again every few seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import InterfaceError, OperationalError

from shelfsync.inbox.events import ORDER_CHANNEL
from shelfsync.inbox.notifications import subscribed
from shelfsync.inbox.tables import event
from shelfsync.orders.ledger.tables import picking_result
from shelfsync.store.engine import libpq_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from shelfsync.context import Context

LOOK_AGAIN_S = 15.0


async def waiting_work(context: Context) -> AsyncIterator[int]:
    """Yields the number of unprocessed events and results at the start, and after each new one."""
    last_seen = (0, 0)
    async with subscribed(libpq_url(context.engine), ORDER_CHANNEL) as subscription:
        while True:
            subscription.look()
            with contextlib.suppress(OperationalError, InterfaceError):  # the database is unavailable: try again
                newest, waiting = await asyncio.to_thread(_waiting, context)
                if waiting and (newest[0] > last_seen[0] or newest[1] > last_seen[1]):
                    last_seen = newest
                    yield waiting
            await subscription.pause(LOOK_AGAIN_S, jobs=None)


def _waiting(context: Context) -> tuple[tuple[int, int], int]:
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
