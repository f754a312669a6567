"""Alert `rate_limited`: the platform stops shelfsync several times in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync import display
from shelfsync.platform.rate_limit.scope import counted
from shelfsync.platform.rate_limit.tables import allowance
from shelfsync.store.metadata import after

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


STOPS = 2
"""So many stops in a row by the platform are more than a limit that was reached once."""


def rate_limited(context: Context, _: Connection) -> Found:
    """The platform stops shelfsync again and again, without a good answer between."""
    lately = sa.and_(allowance.c.key == counted(context.settings).scope, allowance.c.paused_until > after(-3600))
    with context.limits.connect() as limits:
        row = limits.execute(sa.select(allowance).where(allowance.c.strikes >= STOPS, lately)).one_or_none()
    if row is None:
        return {}
    return {
        ("rate_limited", ""): f"the platform stopped shelfsync {row.strikes} times in a row, now until"
        f" {display.instant(row.paused_until)}: {row.pause_reason}"
    }
