"""The outbox of alerts: which messages are owed to which route, and what became of each."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by, insert

from shelfsync.alerts.ledger.mutes import MUTED, OF_MUTE
from shelfsync.alerts.ledger.tables import FREE, WAITS, alert, alert_message, alert_mute, alert_sending
from shelfsync.alerts.message import Due
from shelfsync.store.bulk import among, insertion
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class Sending:
    """What a route gets as one message. `messages`: the numbers of the messages of the outbox that are in it.

    `ended`: those of them that report an opening together with its end, so that its end is no message of its own.
    """

    route: str
    key: str
    urgency: str
    title: str
    body: str
    messages: tuple[int, ...]
    ended: tuple[int, ...] = ()


_MESSAGE = alert_message.c
UNSENT_S = 600.0
"""So long after a message was due, the process that is to send it counts as hung, or as not there."""


def owe(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Adds messages (`alert_id`, `act`, `revision`, `route`, `due_at`); one that is there already stays as it is."""
    if rows:
        connection.execute(insertion(alert_message, rows).on_conflict_do_nothing())


def worse(connection: Connection) -> set[tuple[int, str]]:
    """(alert_id, route) of open alerts that got worse since the route was owed a message about them."""
    before = sa.select(_MESSAGE.alert_id, _MESSAGE.route).join(alert, alert.c.alert_id == _MESSAGE.alert_id)
    mine = (alert.c.closed_at.is_(None), _MESSAGE.act == "opened", _MESSAGE.revision < alert.c.revision)
    return {(row.alert_id, row.route) for row in connection.execute(before.where(*mine).distinct())}


def unreported(connection: Connection, pagers: Collection[str]) -> list[dict[str, Any]]:
    """(alert_id, route) of closed alerts whose opening a route has taken and whose end it does not know.

    `pagers`: routes that open incidents. Of those, what keeps a key may have arrived, and ends by it.
    """
    perhaps = sa.and_(_MESSAGE.route.in_(sorted(pagers)), _MESSAGE.key.is_not(None), _MESSAGE.sending_at.is_(None))
    arrived = sa.or_(_MESSAGE.sent_at.is_not(None), perhaps)
    ended = alert_message.alias()
    known = sa.exists().where(
        ended.c.alert_id == _MESSAGE.alert_id, ended.c.route == _MESSAGE.route, ended.c.act == "closed"
    )
    statement = (
        sa.select(_MESSAGE.alert_id, _MESSAGE.route, sa.func.max(_MESSAGE.revision).label("revision"))
        .join(alert, alert.c.alert_id == _MESSAGE.alert_id)
        .where(alert.c.closed_at.is_not(None), _MESSAGE.act == "opened", arrived, ~known)
        .group_by(_MESSAGE.alert_id, _MESSAGE.route)
    )
    return [dict(row) for row in connection.execute(statement).mappings()]


def drop(
    connection: Connection, routes: Collection[str], escalations: Collection[str], held_back: Mapping[str, float]
) -> None:
    """Drops what no person needs any more: the opening of a closed alert, and what waits for a route that the settings do not name.

    `escalations`: routes that need no message about an alert that a person has acknowledged. `held_back`: routes that take messages at some
    times alone, with the minutes of their escalation. They get what was open longer than that and not muted, although it is over.
    """
    mine = alert.c.alert_id == _MESSAGE.alert_id
    missed = sa.or_(
        sa.false(),
        *(
            sa.and_(
                _MESSAGE.route == route,
                alert.c.closed_at >= alert.c.opened_at + sa.func.make_interval(0, 0, 0, 0, 0, 0, minutes * 60),
            )
            for route, minutes in held_back.items()
        ),
    )
    muted = sa.exists().where(OF_MUTE, alert_mute.c.until_at >= alert.c.closed_at)
    closed = sa.exists().where(mine, alert.c.closed_at.is_not(None), sa.or_(~missed, muted))
    over = sa.and_(_MESSAGE.act == "opened", closed)
    taken_on = sa.exists().where(mine, alert.c.acknowledged_at.is_not(None))
    settled = sa.and_(_MESSAGE.act == "opened", _MESSAGE.route.in_(sorted(escalations)), taken_on)
    unknown = _MESSAGE.route.not_in(sorted(routes))
    gone = alert_message.update().where(WAITS, sa.or_(sa.and_(FREE, sa.or_(over, settled)), unknown))
    connection.execute(gone.values(dropped_at=instant()))
    begun = sa.exists().where(_MESSAGE.route == alert_sending.c.route, WAITS, _MESSAGE.sending_at.is_not(None))
    connection.execute(alert_sending.delete().where(~begun))  # its alerts may be removed since


def due(connection: Connection) -> dict[str, list[Due]]:
    """Route -> the messages that are due and not muted, oldest first. None for a route with a sending that has no end: they wait for that."""
    opening = alert_message.alias()
    about = (opening.c.alert_id == _MESSAGE.alert_id, opening.c.route == _MESSAGE.route, opening.c.act == "opened")
    first = sa.select(opening.c.key).where(*about, opening.c.key.is_not(None))
    incident = first.order_by(opening.c.message_id).limit(1)
    statement = (
        sa.select(
            *(_MESSAGE.route, _MESSAGE.message_id, _MESSAGE.alert_id, _MESSAGE.act),
            incident.scalar_subquery().label("incident"),
            _MESSAGE.key.is_not(None).label("repeat"),
            *(alert.c.kind, alert.c.subject, alert.c.message, alert.c.opened_at, alert.c.closed_at),
        )
        .join(alert, alert.c.alert_id == _MESSAGE.alert_id)
        .where(FREE, _MESSAGE.due_at <= instant(), _MESSAGE.route.not_in(sa.select(alert_sending.c.route)), ~MUTED)
        .order_by(_MESSAGE.message_id)
    )
    found: dict[str, list[Due]] = {}
    for row in connection.execute(statement).mappings():
        values = dict(row)
        found.setdefault(values.pop("route"), []).append(Due(**values))
    return found


def open_incidents(connection: Connection, route: str) -> set[str]:
    """The keys of what was sent to the route about alerts of which one at least is still open."""
    statement = sa.select(_MESSAGE.key).join(alert, alert.c.alert_id == _MESSAGE.alert_id)
    opened = (_MESSAGE.route == route, _MESSAGE.act == "opened", _MESSAGE.key.is_not(None))
    return set(connection.execute(statement.where(*opened, alert.c.closed_at.is_(None))).scalars())


def begin(connection: Connection, sending: Sending) -> Sending:
    """From now on the route may have it. Returns it with the messages about the ends that it reports."""
    ended = alert_message.alias()
    known = sa.exists().where(
        ended.c.alert_id == _MESSAGE.alert_id, ended.c.route == _MESSAGE.route, ended.c.act == "closed"
    )
    columns = ("alert_id", "act", "revision", "route", "due_at")
    opened = sa.select(
        _MESSAGE.alert_id, sa.literal("closed"), sa.func.max(_MESSAGE.revision), _MESSAGE.route, instant()
    )
    opened = opened.where(among(_MESSAGE.message_id, sending.ended), ~known).group_by(_MESSAGE.alert_id, _MESSAGE.route)
    added = insert(alert_message).from_select(columns, opened).returning(_MESSAGE.message_id)
    messages = (*sending.messages, *connection.execute(added).scalars())
    values = dataclasses.asdict(sending)
    del values["messages"], values["ended"]
    connection.execute(alert_sending.insert().values(values))
    mine = alert_message.update().where(among(_MESSAGE.message_id, messages))
    connection.execute(mine.values(sending_at=instant(), key=sending.key))
    return dataclasses.replace(sending, messages=messages)


def interrupted(connection: Connection) -> list[Sending]:
    """What was begun and has no end, and is due; asked while no other process sends, so its sender has died."""
    messages = sa.func.array_agg(_MESSAGE.message_id).label("messages")
    statement = (
        sa.select(alert_sending, messages)
        .join(alert_message, sa.and_(_MESSAGE.route == alert_sending.c.route, WAITS, _MESSAGE.sending_at.is_not(None)))
        .group_by(alert_sending.c.route)
        .having(sa.func.max(_MESSAGE.due_at) <= instant())
        .order_by(alert_sending.c.route)
    )
    found = [dict(row) for row in connection.execute(statement).mappings()]
    return [Sending(**{**row, "messages": tuple(sorted(row["messages"]))}) for row in found]


def sent(connection: Connection, sending: Sending) -> None:
    """The route has taken it."""
    mine = alert_message.update().where(among(_MESSAGE.message_id, sending.messages))
    connection.execute(mine.values(sent_at=instant()))
    connection.execute(alert_sending.delete().where(alert_sending.c.route == sending.route))


def refused(
    connection: Connection, sending: Sending, *, error: str, again_after_s: float, unsure: bool, kept: bool
) -> None:
    """The route did not take it; it is tried again. `unsure`: an earlier try of it may have arrived. `kept`: it stays as it is, with its key."""
    values = {"tries": _MESSAGE.tries + 1, "error": error, "due_at": after(again_after_s)}
    values |= {} if kept else {"sending_at": None}
    values |= {} if unsure else {"key": None}
    connection.execute(alert_message.update().where(among(_MESSAGE.message_id, sending.messages)).values(values))
    if not kept:
        connection.execute(alert_sending.delete().where(alert_sending.c.route == sending.route))


def stuck(connection: Connection, seconds: float) -> set[str]:
    """The routes of which the opening of an alert has been due for so long, and no person has muted it: whoever is to send it does not.

    An end may wait by right: an incident is over with the last of its alerts.
    """
    late = (WAITS, _MESSAGE.act == "opened", _MESSAGE.due_at < after(-seconds), ~MUTED)
    routes = sa.select(_MESSAGE.route).join(alert, alert.c.alert_id == _MESSAGE.alert_id).where(*late).distinct()
    return set(connection.execute(routes).scalars())


def failures(connection: Connection) -> dict[str, tuple[int, str]]:
    """Route -> (tries of its longest waiting message, the error of the newest try), where a message waits that the route has refused and no person has muted."""
    errors = sa.func.array_agg(aggregate_order_by(_MESSAGE.error, _MESSAGE.due_at.desc()), type_=ARRAY(sa.Text))
    statement = sa.select(_MESSAGE.route, sa.func.max(_MESSAGE.tries).label("tries"), errors[1].label("error"))
    rows = connection.execute(statement.where(WAITS, _MESSAGE.tries > 0, ~MUTED).group_by(_MESSAGE.route))
    return {row.route: (row.tries, row.error or "") for row in rows}
