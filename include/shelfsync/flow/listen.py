"""One LISTEN connection for all waits of a process: an event in the inbox wakes whoever waits.

A notification is a nudge and may be lost; whoever waits reads the tables first and looks again every few seconds (I8).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import psycopg

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

log = logging.getLogger(__name__)

CHANNEL = "shelfsync_inbox"
_RECONNECT_S = 2.0


class Listener:
    """Listens as long as somebody is subscribed; a lost connection is made again, and waking everybody then makes them look."""

    def __init__(self, dsn: str, channel: str = CHANNEL) -> None:
        self._dsn = dsn
        self._channel = channel
        self._bells: set[asyncio.Event] = set()
        self._task: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def subscription(self) -> AsyncIterator[asyncio.Event]:
        """A bell that is set by each notification; clear it before looking."""
        bell = asyncio.Event()
        self._bells.add(bell)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._listen())
        try:
            yield bell
        finally:
            self._bells.discard(bell)
            if not self._bells and self._task is not None:
                self._task.cancel()
                self._task = None

    async def _listen(self) -> None:
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(self._dsn, autocommit=True) as connection:
                    await connection.execute(f"LISTEN {self._channel}")
                    self._ring()
                    async for _ in connection.notifies():
                        self._ring()
            except (psycopg.Error, OSError) as error:
                log.warning(
                    "wait: no notifications from the database for now (%s); looking at the tables instead",
                    type(error).__name__,
                )
            await asyncio.sleep(_RECONNECT_S)

    def _ring(self) -> None:
        for bell in self._bells:
            bell.set()


_listeners: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, str], Listener]] = WeakKeyDictionary()


def listener_of(dsn: str, channel: str = CHANNEL) -> Listener:
    """The one listener of this event loop for this database and channel."""
    here = _listeners.setdefault(asyncio.get_running_loop(), {})
    return here.setdefault((dsn, channel), Listener(dsn, channel))
