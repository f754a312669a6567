"""What fails while a service is away is the same condition as the outage, and no alert of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync import outages
from shelfsync.store.metadata import after

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Collection

    from sqlalchemy.engine import Connection


_EXPLAINS_S = 2 * 3_600.0
"""What failed during an outage is no condition of its own until so long after its end: a schedule of an hour or less has repeated it by then."""


def while_away(connection: Connection) -> Callable[[Collection[str], dt.datetime, dt.datetime | None], bool]:
    """Whether a service was away at any time from one instant to another. What fails then is the same condition as the outage.

    Short outages count too: those that are not yet reported, and those that were over within the last `_EXPLAINS_S`.
    """
    column = outages.outage.c
    lately = sa.or_(column.ended_at.is_(None), column.ended_at > after(-_EXPLAINS_S))
    found = list(connection.execute(sa.select(column.service, column.began_at, column.ended_at).where(lately)))

    def away(services: Collection[str], begun: dt.datetime, ended: dt.datetime | None) -> bool:
        return any(
            one.service in services
            and (ended is None or one.began_at <= ended)
            and (one.ended_at is None or one.ended_at >= begun)
            for one in found
        )

    return away
