"""Waiting for order events and picking results that nobody has worked on. Only reads; may be stopped and started anywhere.

A notification is a nudge and may be lost: the tables are read first, and again every few seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import InterfaceError, OperationalError

from shelfsync.flow.listen import listener_of
from shelfsync.inbox.events import ORDER_CHANNEL
from shelfsync.inbox.tables import event
from shelfsync.ledger.engine import libpq_url
from shelfsync.ledger.order_tables import picking_result

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from shelfsync.flow.house import Parts

LOOK_AGAIN_S = 15.0


async def news(parts: Parts) -> AsyncIterator[int]:
    """How many wait, whenever something has come since the last time; what waits at the beginning counts as come."""
    told = (0, 0)
    async with listener_of(libpq_url(parts.engine), ORDER_CHANNEL).subscription() as bell:
        while True:
            bell.clear()
            with contextlib.suppress(OperationalError, InterfaceError):  # the database is away: look again
                newest, waiting = await asyncio.to_thread(_waiting, parts)
                if waiting and (newest[0] > told[0] or newest[1] > told[1]):
                    told = newest
                    yield waiting
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(bell.wait(), LOOK_AGAIN_S)


def _waiting(parts: Parts) -> tuple[tuple[int, int], int]:
    """((newest event, newest result) of those that wait, how many wait)."""
    events = sa.select(sa.func.coalesce(sa.func.max(event.c.event_id), 0), sa.func.count()).where(
        event.c.kind == "order", event.c.processed_at.is_(None)
    )
    results = sa.select(sa.func.coalesce(sa.func.max(picking_result.c.result_no), 0), sa.func.count()).where(
        picking_result.c.state == "waiting"
    )
    with parts.engine.connect() as connection:
        (event_id, events_waiting), (result_no, results_waiting) = (
            connection.execute(one).one() for one in (events, results)
        )
    return (event_id, result_no), events_waiting + results_waiting
