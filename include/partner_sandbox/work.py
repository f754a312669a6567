"""Work that is due by the platform's clock: jobs, deliveries, and other registered work.

On a running server each source has a task of its own, so that a receiver that does not answer holds up no job. Advancing
a virtual clock visits every instant at which something falls due, in order, and does it there.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from partner_sandbox.clock import SECOND_US, Clock, to_us

logger = logging.getLogger(__name__)
IDLE_S = 60.0


class Source(Protocol):
    """A kind of work."""

    def next_due_us(self) -> int | None:
        """When the next piece falls due; None when there is none."""

    async def run_due(self) -> int:
        """Does the work that is due now, or begins it; returns the number of pieces."""

    async def finish(self) -> int:
        """Waits for the begun work; returns the number of pieces."""

    async def stop(self) -> None:
        """Drops the begun work."""


class Work:
    """All sources and the clock they go by."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
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
        await self.run_due()
        while (due_us := self._earliest()) is not None and due_us <= target_us:
            self._clock.move_to(due_us)
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
            try:
                await asyncio.wait_for(bell.wait(), wait_s)
            except TimeoutError:
                continue

    def _wait_s(self, due_us: int | None) -> float:
        if due_us is None or self._clock.virtual:
            return IDLE_S
        return min(max(due_us - self._clock.now_us(), 0) / SECOND_US, IDLE_S)

    def _earliest(self) -> int | None:
        dues = [due for due in (source.next_due_us() for source in self._sources) if due is not None]
        return min(dues) if dues else None

    def _ring(self) -> None:
        for bell in self._bells:
            bell.set()
