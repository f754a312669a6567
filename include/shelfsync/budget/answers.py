"""What the platform's answers do to the allowance: a stop pauses everybody, a good one ends the series of stops."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.budget import tables
from shelfsync.budget.pause import pause_s

if TYPE_CHECKING:
    import random

    from sqlalchemy.engine import Connection

    from shelfsync.budget.allowance import Allowance
    from shelfsync.budget.pause import Answer


def record(connection: Connection, of: Allowance, answer: Answer, chance: random.Random) -> float:
    """Counts an answer; returns how long everybody keeps silent because of it, in seconds."""
    silent_s = _stop(connection, of, answer, chance) if answer.stops else _go_on(connection, of)
    usage = tables.usage
    new = insert(usage).values(
        key=of.key,
        hour_at=sa.func.date_trunc("hour", of.database_time, "UTC"),
        lane="",
        operation=answer.operation,
        answers=1,
        stops=int(answer.stops),
        failures=int(answer.status >= 500),
    )
    connection.execute(
        new.on_conflict_do_update(
            index_elements=["key", "hour_at", "lane", "operation"],
            set_={name: usage.c[name] + new.excluded[name] for name in ("answers", "stops", "failures")},
        )
    )
    return silent_s


def _stop(connection: Connection, of: Allowance, answer: Answer, chance: random.Random) -> float:
    """Pauses, or makes the pause in force longer.

    Requests that were on their way when the first stop came are told the same: they are no new strike.
    """
    state = of.lock(connection)
    now = connection.execute(sa.select(of.database_time)).scalar_one()
    in_force = state.paused_until is not None and state.paused_until > now
    strikes = max(state.strikes, 1) if in_force else state.strikes + 1
    until = now + dt.timedelta(seconds=pause_s(answer, strikes, chance, longest_s=of.pause_s_max))
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


def _go_on(connection: Connection, of: Allowance) -> float:
    """A good answer after a pause: the next stop is a first one again. One that was on its way during the pause says nothing."""
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
    return 0.0
