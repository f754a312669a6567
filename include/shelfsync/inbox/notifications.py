"""One LISTEN connection for all waits of a process: an event in the inbox wakes the wait that it concerns.

A notification may be lost. So every wait reads the tables first, and again every few seconds (I8).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import psycopg

from shelfsync.inbox.events import CHANNEL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection

log = logging.getLogger(__name__)

ANY_JOB = ""
"""A notification that names no job concerns every wait."""
_RECONNECT_S = 2.0
_EARLY_MAX = 1000


class Subscription:
    """What one wait pauses on. Notifications that arrive while the wait reads the tables end its next pause."""

    def __init__(self) -> None:
        self._wake = asyncio.Event()
        self._early: set[str] = set()
        self._jobs: Collection[str] | None = ()
        self._looking = True

    def look(self) -> None:
        """Call this before each reading of the tables."""
        self._wake.clear()
        self._early.clear()
        self._looking = True

    async def pause(self, seconds: float, jobs: Collection[str] | None) -> None:
        """Ends after `seconds`, or at a notification of one of these jobs of the platform; None: of any."""
        self._jobs, self._looking = jobs, False
        if not any(self._concerned(job) for job in self._early):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):  # wait_for may swallow a cancellation that comes with the event
                    await self._wake.wait()

    def notify(self, job: str) -> None:
        """A notification arrived."""
        if self._looking:
            self._early.add(job if len(self._early) < _EARLY_MAX else ANY_JOB)
        elif self._concerned(job):
            self._wake.set()

    def _concerned(self, job: str) -> bool:
        return job == ANY_JOB or self._jobs is None or job in self._jobs


class Listener:
    """Listens while a wait is subscribed. After each new connection it wakes every wait: notifications may have been lost."""

    def __init__(self, dsn: str, channel: str) -> None:
        self._dsn = dsn
        self._channel = channel
        self._subscriptions: set[Subscription] = set()
        self._task: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def subscribed(self) -> AsyncIterator[Subscription]:
        """A subscription for the duration of the block."""
        subscription = Subscription()
        self._subscriptions.add(subscription)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._listen())
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)
            if not self._subscriptions and self._task is not None:
                self._task.cancel()
                self._task = None

    async def _listen(self) -> None:
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(self._dsn, autocommit=True) as connection:
                    await connection.execute(f"LISTEN {self._channel}")
                    self._notify(ANY_JOB)
                    async for notification in connection.notifies():
                        self._notify(notification.payload)
            except (psycopg.Error, OSError) as error:
                log.warning(
                    "wait: no notifications from the database for now (%s); polling the tables instead",
                    type(error).__name__,
                )
            await asyncio.sleep(_RECONNECT_S)

    def _notify(self, job: str) -> None:
        for subscription in self._subscriptions:
            subscription.notify(job)


_listeners: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, str], Listener]] = WeakKeyDictionary()


def subscribed(dsn: str, channel: str = CHANNEL) -> contextlib.AbstractAsyncContextManager[Subscription]:
    """A subscription to the listener of this event loop for this database and channel."""
    here = _listeners.setdefault(asyncio.get_running_loop(), {})
    return here.setdefault((dsn, channel), Listener(dsn, channel)).subscribed()
