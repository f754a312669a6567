"""Database time: the one clock that all workers share (I17)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa


def instant() -> sa.ColumnElement[Any]:
    """The present as SQL. In a session that has set `shelfsync.instant`, it is that time: a simulation sets it."""
    return sa.func.ledger.instant(type_=sa.DateTime(timezone=True))


def first_end(ended_at: sa.Column[Any], state: sa.Column[Any], reached: str) -> sa.ColumnElement[Any]:
    """When a row ended in the state it has reached: a report that is made again in the same state does not move it."""
    return sa.case((state == reached, sa.func.coalesce(ended_at, instant())), else_=instant())


def after(seconds: float) -> sa.ColumnElement[Any]:
    """So many seconds from now, as SQL."""
    return instant() + sa.func.make_interval(0, 0, 0, 0, 0, 0, seconds)
