"""Stalls of the orders' way: told once each, and again only after they were over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger.instant import instant
from shelfsync.ledger.order_tables import order_alarm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy.engine import Connection


def keep(connection: Connection, kinds: Sequence[str], found: Mapping[tuple[str, str], str]) -> list[str]:
    """What is stalled now, (kind, subject) -> message, of these kinds: ends what is over, returns the messages that are new."""
    lasting = sa.tuple_(order_alarm.c.kind, order_alarm.c.subject).in_(list(found)) if found else sa.false()
    connection.execute(
        order_alarm.update()
        .where(order_alarm.c.kind.in_(list(kinds)), order_alarm.c.ended_at.is_(None), ~lasting)
        .values(ended_at=instant())
    )
    new = []
    for (kind, subject), message in sorted(found.items()):
        made = insert(order_alarm).values(kind=kind, subject=subject, message=message, raised_at=instant())
        again = made.on_conflict_do_update(
            index_elements=[order_alarm.c.kind, order_alarm.c.subject],
            set_={"message": message, "raised_at": instant(), "ended_at": None},
            where=order_alarm.c.ended_at.is_not(None),
        )
        if connection.execute(again.returning(order_alarm.c.kind)).one_or_none() is not None:
            new.append(message)
    return new


def lasting(connection: Connection) -> list[dict[str, Any]]:
    """Those that last, the oldest first."""
    found = sa.select(order_alarm).where(order_alarm.c.ended_at.is_(None)).order_by(order_alarm.c.raised_at)
    return [dict(row) for row in connection.execute(found).mappings()]
