"""Calls with a wrong secret: the receiver stores that they came, at most once a minute for each endpoint, and nothing of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from shelfsync.inbox.events import event
from shelfsync.store.metadata import after, count, identity, metadata, text, written

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.engine import Connection

INBOX, PICKING = "inbox", "picking"
"""The endpoints: events of the platform, picking results of the stores."""
LATELY_S = 3_600.0
"""The watch reports refusals of so many seconds."""
REPORTS_MIN = {INBOX: 2, PICKING: 5}
"""A stranger who tries once is in one report; a sender with a wrong secret goes on for minutes. Nothing else shows the secret of a store."""

refusal = sa.Table(
    "refusal",
    metadata,
    identity("refusal_id", "Number of the report"),
    text("endpoint", f"{INBOX}: events of the platform; {PICKING}: picking results of the stores", nullable=False),
    count("calls", "Calls with a wrong secret since the report before"),
    written("refused_at", "When the last of them came"),
    sa.Index("ix_refusal_refused_at", "refused_at"),
    schema="inbox",
    comment="Calls that the receiver rejected with 401: at most one row a minute and endpoint",
)


class Refused(NamedTuple):
    """What an endpoint has refused lately."""

    calls: int
    began_at: dt.datetime
    last_at: dt.datetime


def lately(connection: Connection) -> dict[str, Refused]:
    """Endpoint -> what it has refused in the last hour, if that goes on for minutes (`REPORTS_MIN`).

    An event that was stored later ends it for the platform's endpoint: the platform has the secret.
    """
    stored = sa.select(event.c.received_at).order_by(event.c.event_id.desc()).limit(1)
    newest = connection.execute(stored).scalar_one_or_none()
    column = refusal.c
    ended = sa.false() if newest is None else sa.and_(column.endpoint == INBOX, column.refused_at <= newest)
    times = (sa.func.min(column.refused_at), sa.func.max(column.refused_at))
    statement = (
        sa.select(column.endpoint, sa.func.sum(column.calls), *times)
        .where(column.refused_at > after(-LATELY_S), ~ended)
        .group_by(column.endpoint)
        .having(sa.func.count() >= sa.case(REPORTS_MIN, value=column.endpoint, else_=1))
    )
    return {row[0]: Refused(int(row[1]), row[2], row[3]) for row in connection.execute(statement)}
