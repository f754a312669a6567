"""The effect of the platform's answers on the allowance: a stop pauses all processes, a good answer ends the pause."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.back_off import back_off_s
from shelfsync.platform.rate_limit import tables

if TYPE_CHECKING:
    import random

    from sqlalchemy.engine import Connection

    from shelfsync.platform.rate_limit.allowance import Allowance, Locked

THROTTLED_S = 15.0
BLOCKED_S = 60.0
BACKOFF_S_MAX = 900.0
"""An edge's block lasted ten minutes when it was observed: a retry every quarter of an hour is enough."""
JITTER = 0.1


@dataclass(frozen=True, slots=True)
class Answer:
    """The relevant part of an answer. `retry_after_s`: seconds from now; `blocked`: the edge blocks the whole address."""

    operation: str
    status: int
    retry_after_s: float | None
    blocked: bool

    @property
    def stops(self) -> bool:
        """True if no process may send for a while.

        On a 2xx or 3xx a Retry-After is advice about this one resource, not a request to stop.
        """
        return self.status == 429 or self.blocked or (self.retry_after_s is not None and self.status >= 400)

    @property
    def reason(self) -> str:
        """The reason as a text for people."""
        if self.blocked:
            return f"the platform's edge blocks this address ({self.status} on {self.operation})"
        if self.status == 429:
            return f"the platform counts too many requests (429 on {self.operation})"
        return f"the platform asks to wait ({self.status} with Retry-After on {self.operation})"


def pause_s(answer: Answer, strikes: int, chance: random.Random, *, longest_s: float) -> float:
    """How long to pause after the `strikes`-th consecutive stop, from 1, in seconds.

    A Retry-After is obeyed, and doubted when it has failed before; without one the pause doubles. Jitter only ever lengthens
    it, so that two installations that were stopped together do not come back together.
    """
    first_s = BLOCKED_S if answer.blocked else THROTTLED_S
    asked_s = answer.retry_after_s
    if asked_s is not None and (math.isnan(asked_s) or asked_s < 0):
        asked_s = None
    unasked_s = back_off_s(strikes if asked_s is None else strikes - 1, first_s, BACKOFF_S_MAX)
    silent_s = max(1.0, unasked_s, asked_s or 0.0)
    return min(silent_s * (1 + JITTER * chance.random()) + chance.random(), longest_s)


def count(connection: Connection, of: Allowance, answer: Answer, permit_id: int | None = None) -> bool:
    """Counts an answer, in one statement; returns whether the last answer that the allowance knows was a stop.

    `permit_id`: of the request, which has arrived.
    """
    counts = {"answers": 1, "stops": int(answer.stops), "failures": int(answer.status >= 500)}
    return of.count(connection, answer.operation, permit_id, counts)


def stop(connection: Connection, of: Allowance, state: Locked, answer: Answer, chance: random.Random) -> float:
    """Pauses, or extends the pause in force; returns how long no process sends, in seconds. `state`: what `lock` returned.

    Requests that were on their way when the first stop came get the same answer: they are no new strike.
    """
    now = connection.execute(sa.select(of.database_time)).scalar_one()
    in_force = state.paused_until is not None and state.paused_until > now
    strikes = max(state.strikes, 1) if in_force else state.strikes + 1
    until = now + dt.timedelta(seconds=pause_s(answer, strikes, chance, longest_s=of.pause_max_s))
    if in_force and until <= state.paused_until:
        return float((state.paused_until - now).total_seconds())
    connection.execute(
        sa.update(tables.allowance)
        .where(tables.allowance.c.key == of.key)
        .values(paused_until=until, pause_reason=answer.reason, strikes=strikes)
    )
    connection.execute(
        sa.insert(tables.pause).values(key=of.key, began_at=now, until_at=until, strikes=strikes, reason=answer.reason)
    )
    return (until - now).total_seconds()


def go_on(connection: Connection, of: Allowance) -> None:
    """A success after a pause: the next stop is a first one again. An answer to a request from before the pause does not count."""
    allowance = tables.allowance
    connection.execute(
        sa.update(allowance)
        .where(
            allowance.c.key == of.key,
            allowance.c.strikes > 0,
            sa.or_(allowance.c.paused_until.is_(None), allowance.c.paused_until <= of.database_time),
        )
        .values(strikes=0)
    )
