"""Alerts in the ledger: opened, kept and closed by who finds the conditions; acknowledged and muted by persons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.alerts.kind import KINDS
from shelfsync.alerts.ledger.tables import alert, alert_look, alert_message
from shelfsync.chain_names_in_text import own_names
from shelfsync.chosen_chain import chain_in_use
from shelfsync.store.bulk import among
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Collection, Mapping

    from sqlalchemy.engine import Connection


GONE_S = 86_400.0
"""What only another watch can find is over if none has found it for so long: its machine may be gone for good."""


@dataclass(frozen=True)
class Alert:
    """One row of `ledger.alert` that was opened, reported again, or closed just now."""

    alert_id: int
    kind: str
    subject: str
    message: str

    @property
    def line(self) -> str:
        """The message with its runbook."""
        return _line(self.kind, self.message)


def _line(kind: str, message: str) -> str:
    return f"{message.rstrip('.')}. Runbook: {KINDS[kind].page}"


@dataclass(frozen=True)
class Kept:
    """What one look has changed."""

    opened: tuple[Alert, ...]
    closed: tuple[Alert, ...]


def keep(
    connection: Connection,
    kinds: Collection[str],
    found: Mapping[tuple[str, str], str],
    *,
    revisions: Mapping[tuple[str, str], int] | None = None,
    of_another: Callable[[str, str], bool] = lambda _kind, _subject: False,
) -> Kept:
    """Makes the open alerts of these kinds those that were found: (kind, subject) -> message. The others close.

    A found one that is open already takes the newest message. If its revision is higher than before, it counts as opened again, and a person
    who had taken it on has not taken on what is new.
    `of_another`: whether only another watch can find an alert of this kind and subject. It closes when none has found it for `GONE_S`.
    """
    connection.execute(sa.text("LOCK TABLE ledger.alert IN SHARE ROW EXCLUSIVE MODE"))  # rare, and two would open one
    columns = (alert.c.alert_id, alert.c.kind, alert.c.subject, alert.c.message, alert.c.revision)
    still = sa.select(*columns, (alert.c.seen_at < after(-GONE_S)).label("gone"))
    still = still.where(alert.c.closed_at.is_(None), alert.c.kind.in_(sorted(kinds)))
    known = {(row.kind, row.subject): row for row in connection.execute(still)}
    opened = []
    for (kind, subject), text in sorted(found.items()):
        message = own_names(text, chain_in_use())
        revision = (revisions or {}).get((kind, subject), 0)
        row = known.pop((kind, subject), None)
        if row is None:
            values = {"kind": kind, "subject": subject, "message": message, "revision": revision}
            made = connection.execute(alert.insert().values(values).returning(alert.c.alert_id)).scalar_one()
            opened.append(Alert(made, kind, subject, message))
            continue
        now: dict[str, Any] = {"message": message, "seen_at": instant()}
        if revision > row.revision:
            now |= {"revision": revision, "acknowledged_by": None, "acknowledged_at": None}
            opened.append(Alert(row.alert_id, kind, subject, message))
        connection.execute(alert.update().where(alert.c.alert_id == row.alert_id).values(now))
    ended = [row for row in known.values() if row.gone or not of_another(row.kind, row.subject)]
    over = alert.update().where(among(alert.c.alert_id, [row.alert_id for row in ended]))
    connection.execute(over.values(closed_at=instant()))
    closed = tuple(Alert(row.alert_id, row.kind, row.subject, row.message) for row in ended)
    return Kept(tuple(opened), closed)


def looked(connection: Connection) -> None:
    """The watch has looked at every condition that it can look at."""
    now = insert(alert_look).values(only=True, looked_at=instant())
    connection.execute(now.on_conflict_do_update(index_elements=[alert_look.c.only], set_={"looked_at": instant()}))


def last_look(connection: Connection) -> tuple[dt.datetime, float] | None:
    """When the watch looked last, and how many seconds ago; None: never."""
    ago_s = sa.extract("epoch", instant() - alert_look.c.looked_at)
    row = connection.execute(sa.select(alert_look.c.looked_at, ago_s)).one_or_none()
    return None if row is None else (row[0], float(row[1]))


def open_alerts(connection: Connection, kinds: Collection[str] | None = None) -> list[dict[str, Any]]:
    """The open alerts, of these kinds or of all, the oldest first: the columns of `ledger.alert`, and `line`, the message with its runbook."""
    mine = sa.true() if kinds is None else alert.c.kind.in_(sorted(kinds))
    statement = sa.select(alert).where(alert.c.closed_at.is_(None), mine).order_by(alert.c.alert_id)
    return [{**row, "line": _line(row["kind"], row["message"])} for row in connection.execute(statement).mappings()]


def any_open_since(connection: Connection, kinds: Collection[str], at: dt.datetime) -> bool:
    """Whether an alert of these kinds was open at any time from that instant on."""
    return _any(connection, kinds, sa.or_(alert.c.closed_at.is_(None), alert.c.closed_at >= at))


def any_opened_since(connection: Connection, kinds: Collection[str], at: dt.datetime) -> bool:
    """Whether an alert of these kinds opened at that instant or later."""
    return _any(connection, kinds, alert.c.opened_at >= at)


def _any(connection: Connection, kinds: Collection[str], when: sa.ColumnElement[bool]) -> bool:
    such = sa.select(alert.c.alert_id).where(alert.c.kind.in_(sorted(kinds)), when)
    return bool(connection.execute(sa.select(such.exists())).scalar_one())


def newest(connection: Connection, *, most: int = 200) -> list[dict[str, Any]]:
    """The last alerts, open or closed, newest first."""
    statement = sa.select(alert).order_by(alert.c.alert_id.desc()).limit(most)
    return [dict(row) for row in connection.execute(statement).mappings()]


def read(connection: Connection, alert_id: int) -> dict[str, Any] | None:
    """One alert with its `messages`, or None."""
    row = connection.execute(sa.select(alert).where(alert.c.alert_id == alert_id)).mappings().one_or_none()
    if row is None:
        return None
    statement = sa.select(alert_message).where(alert_message.c.alert_id == alert_id)
    messages = connection.execute(statement.order_by(alert_message.c.message_id)).mappings()
    return {**row, "messages": [dict(message) for message in messages]}


def acknowledge(
    connection: Connection, numbers: Collection[int], *, who: str
) -> dict[int, tuple[bool, dict[str, Any]]]:
    """A person takes on open alerts: number -> (whether it was free, the row as it is now). What is not there is missing."""
    mine = among(alert.c.alert_id, numbers)
    free = alert.update().where(mine, alert.c.closed_at.is_(None), alert.c.acknowledged_at.is_(None))
    taken = free.values(acknowledged_by=who, acknowledged_at=instant()).returning(alert.c.alert_id)
    done = set(connection.execute(taken).scalars())
    rows = connection.execute(sa.select(alert).where(mine)).mappings()
    return {row["alert_id"]: (row["alert_id"] in done, dict(row)) for row in rows}
