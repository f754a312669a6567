"""Virtual time: it advances only when a process sleeps, together with the platform's clock."""

from __future__ import annotations

import contextlib
import datetime as dt
import threading
from typing import TYPE_CHECKING

from shelfsync.inbox.events import Subscription

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection

    from partner_api.session import Clock

START = dt.datetime(2026, 3, 2, 4, 0, tzinfo=dt.UTC)

LOOKS_MAX = 1000
"""An hour of waiting is 366 looks at the tables, and each end of a job is one more."""


class VirtualClock:
    """The clock of a world, shared by shelfsync, the database sessions and the platform."""

    def __init__(self, platform: Callable[[float], object]) -> None:
        self._platform = platform
        self._lock = threading.RLock()
        self._past_s = 0.0

    def now(self) -> dt.datetime:
        return START + dt.timedelta(seconds=self._past_s)

    def monotonic_s(self) -> float:
        return self._past_s

    def sleep(self, seconds: float) -> None:
        """Time passes for every process; the platform does its due work in between."""
        if seconds <= 0:
            return
        micros = max(1, round(seconds * 1_000_000))  # the resolution of both clocks
        with self._lock:
            self._past_s = round(self._past_s + micros / 1_000_000, 6)
            self._platform(micros / 1_000_000)

    def restart(self) -> None:
        self._past_s = 0.0


class VirtualSubscription(Subscription):
    """The pauses of a wait in virtual time. No notification arrives, so a wait relies on its own polls; a wait that never ends is a bug."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._looks = 0

    def look(self) -> None:
        super().look()
        self._looks += 1
        if self._looks > LOOKS_MAX:
            raise AssertionError(f"I15: a wait has not ended after {LOOKS_MAX} looks")

    def noticed(self, jobs: Collection[str] | None) -> bool:
        return False

    async def pause(self, seconds: float, jobs: Collection[str] | None) -> None:
        self._clock.sleep(seconds)


@contextlib.asynccontextmanager
async def subscribed(clock: Clock) -> AsyncIterator[Subscription]:
    """What the waits of a process get in the place of the database's notifications."""
    yield VirtualSubscription(clock)
