"""Many processes on one allowance, in virtual time: their steps are interleaved by chance, on a real database."""

from __future__ import annotations

import contextlib
import datetime as dt
import heapq
import itertools
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.platform.rate_limit.admission import Admission, Sleep
from shelfsync.settings import RateLimitSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Engine

    from shelfsync.platform.rate_limit.sliding_window import Rate

START = dt.datetime(2026, 3, 29, 0, 30, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Departure:
    """A request that left: when it left and arrived, in seconds of true time."""

    worker: int
    priority: str
    left_s: float
    arrived_s: float


@dataclass
class World:
    """True time, and what the clocks of the database and of the workers make of it."""

    engine: Engine
    rate: Rate
    seed: int
    settings: RateLimitSettings = field(default_factory=RateLimitSettings)
    chains: dict[int, str] = field(default_factory=dict)
    """The chain for which each worker works; the others: one without a name."""
    now_s: float = 0.0
    database_ahead_s: float = 0.0
    departures: list[Departure] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._dead: set[int] = set()
        self._admissions: dict[int, Admission] = {}

    def database_time(self) -> dt.datetime:
        return START + dt.timedelta(seconds=self.now_s + self.database_ahead_s)

    def admission_of(self, worker: int) -> Admission:
        """A process: its monotonic clock has a beginning of its own."""
        if worker not in self._admissions:
            began_s = self.chance.uniform(-1e6, 1e6)
            self._admissions[worker] = Admission(
                self.settings,
                lambda: self.now_s - began_s,
                chain=self.chains.get(worker, ""),
                rate=self.rate,
                chance=self.chance,
                database_time=sa.bindparam(
                    None, callable_=self.database_time, type_=sa.DateTime(timezone=True), unique=True
                ),
                outage_s=0.0,
            )
        return self._admissions[worker]

    def at(self, time_s: float, do: Callable[[], None]) -> None:
        heapq.heappush(self._due, (time_s, next(self._numbers), do))

    def run(self, until_s: float) -> None:
        while self._due and self._due[0][0] <= until_s:
            time_s, _, do = heapq.heappop(self._due)
            self.now_s = max(self.now_s, time_s)
            do()
        self.now_s = until_s

    def kill(self, worker: int) -> None:
        self._dead.add(worker)

    def works(
        self,
        worker: int,
        priority: str,
        *,
        start_s: float = 0.0,
        requests: int | None = None,
        delay_s: Callable[[], float] | None = None,
    ) -> None:
        """A worker that sends one request after another in this priority, each answered 0.1 s after it arrived.

        `delay_s`: how long the next request is on its way; default: at most half the jitter.
        """
        left = itertools.count() if requests is None else iter(range(requests))
        travel_s = delay_s or (lambda: self.chance.uniform(0, self.rate.jitter_s / 2 - 1e-6))

        def ask() -> None:
            if worker not in self._dead and next(left, None) is not None:
                steps = self.admission_of(worker).admission("put_catalog", priority, worker)
                self._go_on(worker, steps, None, leave)

        def leave() -> None:
            arrived_s = self.now_s + travel_s()
            self.departures.append(Departure(worker, priority, self.now_s, arrived_s))
            self.at(arrived_s + self.chance.uniform(0, 0.2), answered)

        def answered() -> None:
            steps = self.admission_of(worker).answer("put_catalog", 202, None, worker, blocked=False)
            self._go_on(worker, steps, None, ask)

        self.at(start_s, ask)

    def _go_on(self, worker: int, steps: Any, sent: Any, then: Callable[[], None]) -> None:
        if worker in self._dead:
            return
        try:
            step = steps.send(sent)
        except StopIteration:
            then()
            return
        if isinstance(step, Sleep):
            late_s = self.chance.choice([0.0, self.chance.uniform(0, 0.02), self.chance.uniform(0, 0.1)])
            self.at(self.now_s + step.seconds + late_s, lambda: self._go_on(worker, steps, None, then))
            return
        trip_s = self.chance.uniform(0.0005, 0.01)

        def reach_the_database() -> None:
            if worker in self._dead:
                return
            result = self._committed(step)
            self.at(self.now_s + trip_s / 2, lambda: self._go_on(worker, steps, result, then))

        self.at(self.now_s + trip_s / 2, reach_the_database)

    def _committed(self, step: Any) -> Any:
        """What the transaction returns. PostgreSQL ends one that stands still for three seconds, as on a starved machine."""
        for _ in range(5):
            with contextlib.suppress(sa.exc.InternalError, sa.exc.OperationalError), self.engine.begin() as connection:
                return step.run(connection)
        raise AssertionError("PostgreSQL ended the transaction five times")

    def most_in_a_window(self) -> int:
        """The most requests that arrived within any window, counted as the platform counts."""
        arrivals = sorted(one.arrived_s for one in self.departures)
        most = start = 0
        for end, arrived_s in enumerate(arrivals):
            while arrived_s - arrivals[start] >= self.rate.window_s:
                start += 1
            most = max(most, end - start + 1)
        return most

    def used_share(self, from_s: float, to_s: float) -> float:
        """Requests that left, against what the limit allows in that time."""
        left = sum(from_s <= one.left_s < to_s for one in self.departures)
        return left / ((to_s - from_s) * self.rate.limit / self.rate.window_s)
