"""Which approvals may still release something: for how long, until they are spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.decisions.hold import REOPENED
from shelfsync.decisions.ledger.holds import COLUMNS, holds_of, scope
from shelfsync.decisions.ledger.tables import hold
from shelfsync.decisions.state import HELD, HoldState, Subject
from shelfsync.store.bulk import among, any_row
from shelfsync.store.metadata import after, instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sqlalchemy.engine import Connection

    from shelfsync.decisions.hold import Hold


def approved(
    connection: Connection, subject: Subject, vendor: str | None = None, *, hours: float | None = None
) -> list[Hold]:
    """Approved holds whose approval may still release something, oldest first; `hours`: only those approved within so many."""
    mine = sa.and_(scope(subject, vendor), _usable(hours))
    return holds_of(connection, sa.select(*COLUMNS).where(mine).order_by(hold.c.hold_id))


def decided(connection: Connection, subject: Subject, names: Collection[str], *, hours: float) -> list[Hold]:
    """`approved` of these vendors, and their declined and expired holds that the newest extract still has; oldest first."""
    unchanged = hold.c.state.in_(REOPENED) & hold.c.superseded_by.is_(None)
    mine = sa.and_(hold.c.subject == subject, among(hold.c.vendor, names), sa.or_(_usable(hours), unchanged))
    return holds_of(connection, sa.select(*COLUMNS).where(mine).order_by(hold.c.hold_id))


def _usable(hours: float | None) -> sa.ColumnElement[bool]:
    """An approval is valid for so many hours; None: until its rows leave the ERP."""
    lately = sa.true() if hours is None else hold.c.decided_at >= after(-hours * 3600)
    return sa.and_(hold.c.state == HoldState.APPROVED, hold.c.spent_at.is_(None), lately)


def is_concerned(subject: Subject, vendor: sa.ColumnElement[str], *, hours: float) -> sa.ColumnElement[bool]:
    """Whether something of a vendor is held, or an approval of the last `hours` may still release something, within a query."""
    mine = (hold.c.subject == subject, hold.c.vendor == vendor)
    held = (hold.c.state.in_(HELD), hold.c.superseded_by.is_(None))
    return sa.or_(any_row(hold, *mine, *held), any_row(hold, *mine, _usable(hours)))


def applied(connection: Connection, hold_ids: Collection[int], *, run_id: int, generation: int) -> None:
    """Records that this run lets the rows of approved holds pass."""
    values = {"run_id": run_id, "generation": generation, "superseded_by": None}
    released_at = sa.func.coalesce(hold.c.released_at, instant())
    connection.execute(hold.update().where(among(hold.c.hold_id, hold_ids)).values(**values, released_at=released_at))


def spend(connection: Connection, hold_ids: Iterable[int]) -> None:
    """Ends these approvals. If their rows come again, shelfsync asks again."""
    statement = hold.update().where(hold.c.hold_id.in_(list(hold_ids)), hold.c.spent_at.is_(None))
    connection.execute(statement.values(spent_at=instant()))
