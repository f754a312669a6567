"""Time as an argument. `Clock` is a shape: any object with these three methods will do."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from typing import Protocol


class Clock(Protocol):
    """An async client awaits `sleep` when it is a coroutine function."""

    def now(self) -> dt.datetime:
        """The present, aware, in UTC; only used to read a date in `Retry-After` when the answer has no `Date`."""

    def monotonic_s(self) -> float:
        """Seconds that only grow."""

    def sleep(self, seconds: float) -> object:
        """Waits."""


class SystemClock:
    """The machine's."""

    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    def monotonic_s(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class AsyncSystemClock(SystemClock):
    """The machine's, without holding up an event loop."""

    async def sleep(self, seconds: float) -> None:  # type: ignore[override]  # the async client awaits it
        await asyncio.sleep(seconds)
