"""The events in memory that wait for a commit: how many there may be, and how many one commit takes.

Events that arrive during a commit go into the next one, so a flood of events costs few commits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shelfsync.inbox.event_body import Received

    Waiter = tuple[Received, asyncio.Future[bool]]

BATCH_MAX = 256
WAITING_MAX = 4096
WAITING_BYTES_MAX = 64 * 1024 * 1024
"""Limits of the events that wait. Beyond them the receiver answers 503."""


class WaitingEvents:
    """In the order in which they came, each with the result for which its sender waits."""

    def __init__(self) -> None:
        self._events: deque[Waiter] = deque()
        self._bytes = 0

    def has_room_for(self, event: Received) -> bool:
        """Whether one more event may wait."""
        return len(self._events) < WAITING_MAX and self._bytes + len(event.body) <= WAITING_BYTES_MAX

    def add(self, event: Received) -> asyncio.Future[bool]:
        """Lets the event wait; what is returned becomes its result."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._events.append((event, done))
        self._bytes += len(event.body)
        return done

    def take(self) -> list[Waiter]:
        """The next ones, for one commit; none if none waits."""
        batch = [self._events.popleft() for _ in range(min(BATCH_MAX, len(self._events)))]
        self._bytes -= sum(len(event.body) for event, _ in batch)
        return batch
