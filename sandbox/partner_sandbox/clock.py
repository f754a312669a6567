"""The platform's clock, the machine's own or one that stops until it is advanced; and the work that is due by it.

Instants are whole microseconds since 1970 UTC inside, ISO 8601 with milliseconds and Z outside.

On a running server each source of work has a task of its own, so that a receiver that does not answer holds up no job. Advancing
a virtual clock visits every instant at which something falls due, in order, and does it there.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import math
import threading
import time
from collections.abc import Callable

SECOND_US = 1_000_000


def iso(at_us: int) -> str:
    """`2026-01-31T12:00:00.000Z`."""
    moment = dt.datetime.fromtimestamp(at_us // SECOND_US, dt.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at_us % SECOND_US // 1000:03d}Z"


def to_us(seconds: float) -> int:
    """Seconds as whole microseconds."""
    return round(seconds * SECOND_US)


class Clock:
    """What time it is on the platform. A virtual clock moves only by `advance` and `move_to`."""

    def __init__(self, *, virtual: bool, start: dt.datetime | None = None) -> None:
        self.virtual = virtual
        self._start = start
        self._lock = threading.Lock()
        self._offset_us = 0
        self._still_us = 0
        self.restart()

    def restart(self) -> None:
        """Back to where it began: `start`, or the machine's present where none was given."""
        with self._lock:
            machine_us = time.time_ns() // 1000
            begin_us = machine_us if self._start is None else to_us(self._start.timestamp())
            self._offset_us = begin_us - machine_us
            self._still_us = begin_us

    def now_us(self) -> int:
        """The present in microseconds."""
        if self.virtual:
            return self._still_us
        return time.time_ns() // 1000 + self._offset_us

    def now_iso(self) -> str:
        """The present as the interface writes it."""
        return iso(self.now_us())

    def advance(self, seconds: float) -> None:
        """Advances the time; a real clock continues from there."""
        with self._lock:
            self._still_us += to_us(seconds)
            self._offset_us += to_us(seconds)

    def move_to(self, at_us: int) -> None:
        """A virtual clock to an instant that is not behind it."""
        with self._lock:
            self._still_us = max(self._still_us, at_us)


logger = logging.getLogger(__name__)
IDLE_S = 60.0


class Source:
    """A kind of work. A piece that ends before the next one begins leaves nothing to wait for, and nothing to drop: it is due again."""

    def next_due_us(self) -> int | None:
        """When the next piece falls due; None when there is none."""
        raise NotImplementedError

    async def run_due(self) -> int:
        """Does the work that is due now, or begins it; returns the number of pieces."""
        raise NotImplementedError

    async def finish(self) -> int:
        """Waits for the begun work; returns the number of pieces."""
        return 0

    async def stop(self) -> None:
        """Drops the begun work."""


class Work:
    """All sources and the clock they go by; `changes` counts the changes of the tables that hold what falls due."""

    def __init__(self, clock: Clock, changes: Callable[[], int]) -> None:
        self._clock = clock
        self._changes = changes
        self._idle: tuple[int, float] = (-1, 0.0)
        """Until the tables change once more, nothing falls due before this instant: advancing there needs no look at them."""
        self._sources: list[Source] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._bells: list[asyncio.Event] = []

    def register(self, source: Source) -> None:
        self._sources.append(source)

    def wake(self) -> None:
        """Something may have fallen due; callable from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ring)

    async def run_due(self) -> int:
        """Does all that is due now, and what falls due by doing it."""
        done = 0
        while True:
            pieces = 0
            for source in self._sources:
                pieces += await source.run_due()
            for source in self._sources:
                pieces += await source.finish()
            if not pieces:
                return done
            done += pieces

    async def advance(self, seconds: float) -> None:
        """Moves the clock and does what falls due on the way, each piece at its instant on a virtual clock."""
        if not self._clock.virtual:
            self._clock.advance(seconds)
            await self.run_due()
            return
        target_us = self._clock.now_us() + to_us(seconds)
        changes, due_us = self._idle
        if changes != self._changes() or due_us <= target_us:
            await self.run_due()
            while (due_us := self._look()) <= target_us:
                self._clock.move_to(int(due_us))
                if not await self.run_due():  # another task has it in hand
                    await asyncio.sleep(0.001)
        self._clock.move_to(target_us)

    async def run_forever(self) -> None:
        """Keeps every source going until cancelled."""
        self._loop = asyncio.get_running_loop()
        self._bells = [asyncio.Event() for _ in self._sources]
        try:
            async with asyncio.TaskGroup() as group:
                for source, bell in zip(self._sources, self._bells, strict=True):
                    group.create_task(self._keep(source, bell))
        finally:
            for source in self._sources:
                await source.stop()

    async def _keep(self, source: Source, bell: asyncio.Event) -> None:
        while True:
            bell.clear()
            try:
                while await source.run_due():
                    self._ring()
                wait_s = self._wait_s(source.next_due_us())
            except Exception:
                logger.exception("work of the sandbox failed; it is tried again in a second")
                wait_s = 1.0
            # not wait_for: until Python 3.12 it drops a cancellation that meets the bell, and the platform never stops
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await bell.wait()

    def _wait_s(self, due_us: int | None) -> float:
        if due_us is None or self._clock.virtual:
            return IDLE_S
        return min(max(due_us - self._clock.now_us(), 0) / SECOND_US, IDLE_S)

    def _look(self) -> float:
        """When the next piece falls due."""
        changes = self._changes()  # read first: what changes meanwhile is looked at again
        due_us = min((due for source in self._sources if (due := source.next_due_us()) is not None), default=math.inf)
        self._idle = (changes, due_us)
        return due_us

    def _ring(self) -> None:
        for bell in self._bells:
            bell.set()
