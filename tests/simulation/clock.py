"""Virtual time: it advances only when a process sleeps, together with the platform's clock."""

from __future__ import annotations

import contextlib
import datetime as dt
import threading
from typing import TYPE_CHECKING

from shelfsync.inbox.events import Subscription
from shelfsync.platform.jobs import wait

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection

    from partner_api.session import Clock

START = dt.datetime(2026, 3, 2, 4, 0, tzinfo=dt.UTC)

LOOKS_MAX = 1000
"""An hour of waiting is 366 looks at the tables, and each end of a job is one more."""
SLICE_S = wait.LOOK_AGAIN_S
"""A notification ends a pause at the end of such a slice."""
NOTIFIED_LOOK_S = 60.0
"""Between two looks of a wait that notifications reach: a look is three statements, and a wait for lost events has hundreds."""


class VirtualClock:
    """The clock of a world, shared by shelfsync, the database sessions and the platform."""

    def __init__(self, platform: Callable[[float], object]) -> None:
        self._platform = platform
        self._lock = threading.RLock()
        self._past_s = 0.0
        self.stored = 0
        """Events that the receiver has stored."""
        self.is_notified = False

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

    def restart(self, *, is_notified: bool = False) -> None:
        """`is_notified`: an event that the receiver stores wakes every wait."""
        self._past_s = 0.0
        self.is_notified = is_notified
        wait.LOOK_AGAIN_S = NOTIFIED_LOOK_S if is_notified else SLICE_S


class VirtualSubscription(Subscription):
    """The pauses of a wait in virtual time; without notifications it relies on its own looks. A wait that never ends is a bug."""

    def __init__(self, clock: Clock, world: VirtualClock) -> None:
        super().__init__()
        self._clock = clock
        self._world = world
        self._looks = self._known = 0

    def look(self) -> None:
        super().look()
        self._known = self._world.stored
        self._looks += 1
        if self._looks > LOOKS_MAX:
            raise AssertionError(f"I15: a wait has not ended after {LOOKS_MAX} looks")

    def noticed(self, jobs: Collection[str] | None) -> bool:
        return self._world.is_notified and self._world.stored != self._known

    async def pause(self, seconds: float, jobs: Collection[str] | None) -> None:
        left_s = seconds
        while left_s > 0 and not self.noticed(jobs):
            self._clock.sleep(min(left_s, SLICE_S))
            left_s -= SLICE_S


@contextlib.asynccontextmanager
async def subscribed(clock: Clock, world: VirtualClock) -> AsyncIterator[Subscription]:
    """What the waits of a process get in the place of the database's notifications."""
    yield VirtualSubscription(clock, world)
