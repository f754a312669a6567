"""The gate that every request of every process passes: it opens when the shared allowance has a slot for it."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

from shelfsync.budget.course import Course, Sleep, Transaction
from shelfsync.budget.forecast import forecast
from shelfsync.budget.standing import standing

if TYPE_CHECKING:
    import random
    from collections.abc import Awaitable, Callable

    import sqlalchemy as sa
    from sqlalchemy.engine import Engine
    from sqlalchemy.ext.asyncio import AsyncEngine

    from shelfsync.budget.course import Steps
    from shelfsync.budget.forecast import Forecast
    from shelfsync.budget.schedule import Rate
    from shelfsync.budget.standing import Standing
    from shelfsync.clock import Clock
    from shelfsync.settings import BudgetSettings


class RequestBudget:
    """The gate for threads: `admit` blocks until the request may leave.

    One for a process; many threads may use it at once, each for one request at a time.
    """

    def __init__(
        self,
        engine: Engine,
        settings: BudgetSettings,
        clock: Clock,
        *,
        rate: Rate | None = None,
        chance: random.Random | None = None,
        database_time: sa.ColumnElement[Any] | None = None,
        outage_s: float = 5.0,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._course = Course(
            settings, clock.monotonic_s, rate=rate, chance=chance, database_time=database_time, outage_s=outage_s
        )

    def admit(self, operation: str, lane: str) -> None:
        """Returns when one request may leave; it has to leave then.

        TryAgainError when that cannot be soon: the database is away, a long pause is in force, others go first.
        ConfigurationError when the database has no such tables.
        """
        self._drive(self._course.admission(operation, lane, threading.get_ident()))

    def report(self, operation: str, status: int, retry_after_s: float | None, blocked: bool) -> None:
        """An answer came; a 429, a block of the edge or a Retry-After pauses everybody. Never raises for the database."""
        self._drive(self._course.answer(operation, status, retry_after_s, threading.get_ident(), blocked=blocked))

    def done(self, operation: str, lane: str, used: bool) -> None:
        """A slot is through without a word of the platform: it counts no longer than now. Never raises for the database."""
        self._drive(self._course.end(operation, lane, threading.get_ident(), used=used))

    def standing(self) -> Standing:
        """How the allowance stands now: used, waiting, paused."""
        with self._engine.begin() as connection:
            return standing(connection, self._course.allowance)

    def forecast(self, requests: int, *, lane: str = "catalog", every_s: float | None = None) -> Forecast:
        """How long so many requests take from now, and whether that is within the schedule's interval."""
        now = self.standing()
        return forecast(
            self._course.allowance.rate,
            requests,
            lane=lane,
            ahead=sum(now.waiting.values()),
            paused_s=now.paused_s,
            every_s=every_s,
        )

    def _drive(self, steps: Steps) -> None:
        try:
            step = next(steps)
            while True:
                try:
                    result = self._do(step)
                except Exception as error:  # noqa: BLE001  the course decides what it means
                    step = steps.throw(error)
                else:
                    step = steps.send(result)
        except StopIteration:
            return

    def _do(self, step: Transaction | Sleep) -> Any:
        if isinstance(step, Sleep):
            self._clock.sleep(step.seconds)
            return None
        with self._engine.begin() as connection:
            return step.run(connection)


class AsyncRequestBudget:
    """The same gate for an event loop: `admit` and `report` are awaited by the task that sends, and nothing blocks.

    `engine`: SQLAlchemy's asyncio engine on the same database, of the loop that awaits.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        settings: BudgetSettings,
        *,
        monotonic_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rate: Rate | None = None,
        chance: random.Random | None = None,
        database_time: sa.ColumnElement[Any] | None = None,
        outage_s: float = 5.0,
    ) -> None:
        self._engine = engine
        self._sleep = sleep
        self._course = Course(
            settings, monotonic_s, rate=rate, chance=chance, database_time=database_time, outage_s=outage_s
        )

    async def admit(self, operation: str, lane: str) -> None:
        """As RequestBudget.admit."""
        await self._drive(self._course.admission(operation, lane, id(asyncio.current_task())))

    async def report(self, operation: str, status: int, retry_after_s: float | None, blocked: bool) -> None:
        """As RequestBudget.report."""
        await self._drive(
            self._course.answer(operation, status, retry_after_s, id(asyncio.current_task()), blocked=blocked)
        )

    async def done(self, operation: str, lane: str, used: bool) -> None:
        """As RequestBudget.done."""
        await self._drive(self._course.end(operation, lane, id(asyncio.current_task()), used=used))

    async def _drive(self, steps: Steps) -> None:
        try:
            step = next(steps)
            while True:
                try:
                    result = await self._do(step)
                except Exception as error:  # noqa: BLE001  the course decides what it means
                    step = steps.throw(error)
                else:
                    step = steps.send(result)
        except StopIteration:
            return

    async def _do(self, step: Transaction | Sleep) -> Any:
        if isinstance(step, Sleep):
            await self._sleep(step.seconds)
            return None
        async with self._engine.begin() as connection:
            return await connection.run_sync(step.run)
