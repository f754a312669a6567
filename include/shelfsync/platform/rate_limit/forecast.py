"""The present use of the allowance, and how long a number of requests will take."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.platform.rate_limit import tables
from shelfsync.platform.rate_limit.allowance import OVERDUE
from shelfsync.platform.rate_limit.priorities import gap, known

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.platform.rate_limit.allowance import Allowance
    from shelfsync.platform.rate_limit.sliding_window import Rate


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
    """`minutes`: if no other work sends; `minutes_at_floor`: when every other priority is busy all the time."""

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
    priority: str = "catalog",
    ahead: int = 0,
    paused_s: float = 0.0,
    every_s: float | None = None,
) -> Forecast:
    """How long `requests` take from now. `ahead`: requests that wait already; `every_s`: the schedule's interval."""
    spacing_s = rate.spacing.total_seconds()
    alone_s = paused_s + (ahead + requests) * spacing_s
    crowded_s = paused_s + ahead * spacing_s + requests * gap(known(priority), rate.spacing).total_seconds()
    return Forecast(
        requests=requests,
        minutes=alone_s / 60,
        minutes_at_floor=max(crowded_s, alone_s) / 60,
        in_time=None if every_s is None else alone_s <= every_s,
    )


POLLS = ("job_status", "promotion_status")


@dataclass(frozen=True, slots=True)
class Use:
    """The requests of the last `hours`, of `allowed` ones; `by`: which call of the interface -> how many, the most first."""

    hours: int
    requests: int
    allowed: int
    by: dict[str, int]

    @property
    def polls_share(self) -> float | None:
        """Status calls, of all requests: they are needed only if a webhook is late. None without a request."""
        polls = sum(self.by.get(operation, 0) for operation in POLLS)
        return polls / self.requests if self.requests else None

    def sentence(self) -> str:
        """The same for people."""
        by = ", ".join(f"{operation} {count:,}" for operation, count in self.by.items())
        text = (
            f"{self.requests:,} of {self.allowed:,} allowed in {self.hours} hours ({self.requests / self.allowed:.1%})"
        )
        return text if self.polls_share is None else f"{text}: {by}; {self.polls_share:.1%} are status calls"


def use(connection: Connection, of: Allowance, *, hours: int) -> Use:
    """What the allowance was used for. The usage is kept by the hour, so the first hour is a part of one."""
    usage = tables.usage
    now = connection.execute(sa.select(of.database_time)).scalar_one()
    count = sa.func.sum(usage.c.permits - usage.c.forfeited)
    rows = connection.execute(
        sa.select(usage.c.operation, sa.cast(count, sa.BigInteger))
        .where(usage.c.key == of.key, usage.c.priority != "", usage.c.hour_at > now - dt.timedelta(hours=hours))
        .group_by(usage.c.operation)
        .having(count > 0)
        .order_by(count.desc(), usage.c.operation)
    )
    by = {operation: int(requests) for operation, requests in rows}
    allowed = round(of.rate.limit * hours * 3600 / of.rate.window_s)
    return Use(hours, sum(by.values()), allowed, by)


@dataclass(frozen=True, slots=True)
class Status:
    """`waiting`: requests in line, by priority; `paused_s`: 0 when nothing is paused."""

    waiting: dict[str, int]
    paused_s: float
    pause_reason: str | None
    strikes: int


def status(connection: Connection, of: Allowance) -> Status:
    """Reads it without a lock. An allowance that was never used has zeros."""
    now = connection.execute(sa.select(of.database_time)).scalar_one()
    allowance, ticket = tables.allowance, tables.ticket
    state = connection.execute(sa.select(allowance).where(allowance.c.key == of.key)).one_or_none()
    waiting = connection.execute(
        sa.select(ticket.c.priority, sa.func.count())
        .where(ticket.c.key == of.key, ticket.c.back_at >= now - OVERDUE)
        .group_by(ticket.c.priority)
    )
    paused_s = 0.0
    if state is not None and state.paused_until is not None:
        paused_s = max((state.paused_until - now).total_seconds(), 0.0)
    return Status(
        waiting={priority: count for priority, count in waiting},  # noqa: C416  rows are no pairs to a type checker
        paused_s=paused_s,
        pause_reason=state.pause_reason if state is not None and paused_s else None,
        strikes=0 if state is None else state.strikes,
    )
