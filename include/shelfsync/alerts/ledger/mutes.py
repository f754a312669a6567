"""Mutes in the ledger: what no message is sent about for a time, and what becomes of the messages that waited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.alerts.ledger.tables import FREE, WAITS, alert, alert_message, alert_mute, alert_sending
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

    from sqlalchemy.engine import Connection

_MESSAGE = alert_message.c
OF_MUTE = sa.and_(
    alert_mute.c.kind == alert.c.kind, sa.or_(alert_mute.c.subject.is_(None), alert_mute.c.subject == alert.c.subject)
)
"""A mute that is about an alert."""
_NOW = sa.and_(OF_MUTE, alert_mute.c.until_at > instant())
MUTED = sa.exists().where(alert.c.alert_id == _MESSAGE.alert_id, _NOW)
"""Whether a person has muted the alert of a message."""


def mute(connection: Connection, kind: str, subject: str | None, *, who: str, why: str, hours: float) -> None:
    """Sends no message of this kind, of one subject or of all, for so many hours; 0 ends it."""
    mine = sa.and_(alert_mute.c.kind == kind, alert_mute.c.subject.is_not_distinct_from(subject))
    connection.execute(alert_mute.update().where(mine, alert_mute.c.until_at > instant()).values(until_at=instant()))
    if hours > 0:
        values = {"kind": kind, "subject": subject, "who": who, "why": why, "until_at": after(hours * 3600)}
        connection.execute(alert_mute.insert().values(values))


def mutes(connection: Connection) -> list[dict[str, Any]]:
    """What is muted now."""
    statement = sa.select(alert_mute).where(alert_mute.c.until_at > instant()).order_by(alert_mute.c.mute_id)
    return [dict(row) for row in connection.execute(statement).mappings()]


def muted_alerts(connection: Connection) -> set[int]:
    """The open alerts that are muted now."""
    return set(connection.execute(sa.select(alert.c.alert_id).where(alert.c.closed_at.is_(None), _NOW)).scalars())


def hold_muted(connection: Connection, next_at: Mapping[str, dt.datetime]) -> None:
    """Lets what is muted wait, and what was begun together with it go without it; asked while no other process sends.

    `next_at`: of routes that take messages at some times alone, the next one. What was due while it was muted is due then.
    """
    mixed = sa.select(_MESSAGE.route).where(WAITS, _MESSAGE.sending_at.is_not(None), MUTED)
    for route in list(connection.execute(mixed.distinct()).scalars()):
        begun = alert_message.update().where(WAITS, _MESSAGE.sending_at.is_not(None), _MESSAGE.route == route)
        connection.execute(begun.values(sending_at=None))  # it may have arrived, so it keeps its key
        connection.execute(alert_sending.delete().where(alert_sending.c.route == route))
    for route, at in next_at.items():
        late = alert_message.update().where(FREE, _MESSAGE.route == route, _MESSAGE.due_at <= instant(), MUTED)
        connection.execute(late.values(due_at=at))
