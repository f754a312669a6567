"""Before a run: how many requests, how many minutes, and whether the next one by the schedule will find it done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.budget.lanes import gap, known

if TYPE_CHECKING:
    from shelfsync.budget.schedule import Rate


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of a catalog run.

    A job is one PUT; then its log is fetched, and when the webhook does not come it is asked about. Every one of them takes a slot of the
    allowance, a log behind a presigned link of a storage host too.
    """

    jobs: int
    polls_a_job: float = 1.0
    logs_a_job: float = 1.0
    others: int = 1
    """Tokens and checks."""

    @property
    def total(self) -> int:
        """All of them, rounded up."""
        exact = self.jobs * (1 + self.polls_a_job + self.logs_a_job) + self.others
        return int(exact) + (exact > int(exact))


@dataclass(frozen=True, slots=True)
class Forecast:
    """`minutes`: when nobody else sends; `minutes_at_floor`: when every other lane is busy all the time."""

    requests: int
    minutes: float
    minutes_at_floor: float
    in_time: bool | None
    """Whether `minutes` is within the schedule's interval; None when no schedule was named, or while sending is paused."""
    waiting: int = 0
    """Request bodies that are planned and counted nowhere above: a person has paused sending to their vendors."""

    def sentence(self) -> str:
        """The same for people."""
        text = f"{self.requests} requests, {self.minutes:.1f} min (up to {self.minutes_at_floor:.1f} min when other work is waiting)"
        if self.in_time is not None:
            text += f": {'done before the next run is due' if self.in_time else 'NOT done before the next run is due'}"
        if not self.waiting:
            return text
        waits = "1 request body waits" if self.waiting == 1 else f"{self.waiting} request bodies wait"
        return f"{f'{text}; ' if self.requests else ''}{waits} until sending is resumed"


def forecast(
    rate: Rate,
    requests: int,
    *,
    lane: str = "catalog",
    ahead: int = 0,
    paused_s: float = 0.0,
    every_s: float | None = None,
) -> Forecast:
    """How long `requests` take from now. `ahead`: requests that wait already; `every_s`: the schedule's interval."""
    spacing_s = rate.spacing.total_seconds()
    alone_s = paused_s + (ahead + requests) * spacing_s
    crowded_s = paused_s + ahead * spacing_s + requests * gap(known(lane), rate.spacing).total_seconds()
    return Forecast(
        requests=requests,
        minutes=alone_s / 60,
        minutes_at_floor=max(crowded_s, alone_s) / 60,
        in_time=None if every_s is None else alone_s <= every_s,
    )
