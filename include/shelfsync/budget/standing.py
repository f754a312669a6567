"""How the allowance stands at this moment, for status pages, forecasts and tests."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.budget import tables
from shelfsync.budget.allowance import OVERDUE

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.budget.allowance import Allowance


@dataclass(frozen=True, slots=True)
class Standing:
    """`used`: slots of the last window; `waiting`: requests in line, by lane; `paused_s`: 0 when nothing is paused."""

    limit: int
    used: int
    waiting: dict[str, int]
    paused_s: float
    pause_reason: str | None
    strikes: int


def standing(connection: Connection, of: Allowance) -> Standing:
    """Reads it without locking anybody out; an allowance that was never used stands at nothing."""
    now = connection.execute(sa.select(of.database_time)).scalar_one()
    allowance, permit, ticket = tables.allowance, tables.permit, tables.ticket
    state = connection.execute(sa.select(allowance).where(allowance.c.key == of.key)).one_or_none()
    used = connection.execute(
        sa.select(sa.func.count())
        .select_from(permit)
        .where(permit.c.key == of.key, permit.c.slot_at > now - dt.timedelta(seconds=of.rate.window_s))
        .where(permit.c.slot_at <= now)
    ).scalar_one()
    waiting = connection.execute(
        sa.select(ticket.c.lane, sa.func.count())
        .where(ticket.c.key == of.key, ticket.c.back_at >= now - OVERDUE)
        .group_by(ticket.c.lane)
    )
    paused_s = 0.0
    if state is not None and state.paused_until is not None:
        paused_s = max((state.paused_until - now).total_seconds(), 0.0)
    return Standing(
        limit=of.rate.limit,
        used=used,
        waiting={lane: count for lane, count in waiting},  # noqa: C416  rows are no pairs to a type checker
        paused_s=paused_s,
        pause_reason=state.pause_reason if state is not None and paused_s else None,
        strikes=0 if state is None else state.strikes,
    )
