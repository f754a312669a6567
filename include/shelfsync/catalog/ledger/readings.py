"""Readings: the last rows of each vendor as the ERP gave them, and the position from which the next reading of the changes begins.

Both move in one transaction (I14), and one reading is at work at a time (`reading_lock`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.catalog.ledger import tables
from shelfsync.catalog.state import VendorState
from shelfsync.errors import TryAgainError
from shelfsync.store.metadata import after, boolean, instant, lake_file, metadata, moment, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from sqlalchemy.engine import Connection

reading = sa.Table(
    "reading",
    metadata,
    text("vendor", "The vendor", sa.ForeignKey(tables.vendor.c.vendor), primary_key=True),
    lake_file("raw_path", "Lake: its rows as the ERP gave them, with all changes since laid over", nullable=False),
    lake_file(
        "reported_path", "Lake: the changed rows that the last reading had of it; a row that comes again counts once"
    ),
    number("rows", "How many", nullable=False),
    boolean("complete", "True: what is absent from the whole reading below is absent from the ERP", nullable=False),
    moment("read_at", "When the rows last changed", nullable=False),
    schema="ledger",
    comment="The rows that the next changes of a vendor are laid over; only with SHELFSYNC_ERP__CHANGES_SQL or _FILES",
)

position = sa.Table(
    "position",
    metadata,
    text("feed", "catalog: changes by a query; files: changes as files", primary_key=True),
    text("cursor", "The greatest value that was read, or the last name of a file", nullable=False),
    text("mark", "What one cheap query returns as long as nothing changed", nullable=False),
    number("version", "Grows by one with each reading", nullable=False),
    moment("moved_at", "When it moved, with the rows that it stands for", nullable=False),
    schema="ledger",
    comment="Where the next reading of the changes begins",
)


@dataclass(frozen=True)
class At:
    """A position in force, of this feed."""

    feed: str
    cursor: str
    mark: str
    version: int


@dataclass(frozen=True)
class Reading:
    """The last rows of a vendor."""

    raw_path: str
    rows: int
    complete: bool
    reported_path: str | None = None


def at(connection: Connection, feed: str) -> At | None:
    """The position of a feed in force; None before the first whole reading."""
    columns = (position.c.feed, position.c.cursor, position.c.mark, position.c.version)
    row = connection.execute(sa.select(*columns).where(position.c.feed == feed)).one_or_none()
    return None if row is None else At(*row)


def unmark(connection: Connection, feed: str) -> None:
    """Lets the next look at the feed find something to read."""
    connection.execute(position.update().where(position.c.feed == feed).values(mark=""))


def forget(connection: Connection, *, but: str | None = None) -> None:
    """Forgets the positions of all feeds `but` one; without one, all rows too. Rows landed that these feeds know nothing of."""
    connection.execute(position.delete().where(sa.true() if but is None else position.c.feed != but))
    if but is None:
        connection.execute(reading.delete())


def move(connection: Connection, feed: str, before: At | None, *, cursor: str, mark: str) -> None:
    """Moves the position. Raises TryAgainError if another reading has moved it since `before`: its rows are newer."""
    version = 1 if before is None else before.version + 1
    values: dict[str, Any] = {"cursor": cursor, "mark": mark, "version": version, "moved_at": instant()}
    if before is None:
        moved = connection.execute(insert(position).values(feed=feed, **values).on_conflict_do_nothing())
    else:
        mine = (position.c.feed == feed, position.c.version == before.version)
        moved = connection.execute(position.update().where(*mine).values(values))
    if moved.rowcount == 0:
        raise TryAgainError("another run has read the ERP meanwhile, so these rows are not the newest; run it again")


def put(connection: Connection, vendor: str, found: Reading) -> None:
    """The newest rows of a vendor."""
    _put(connection, vendor, {**vars(found), "read_at": instant()})


def put_whole(connection: Connection, vendor: str, path: str, rows: int, *, complete: bool) -> None:
    """The newest rows of a vendor that was read whole, without its changes: those that were reported before still count once."""
    _put(connection, vendor, {"raw_path": path, "rows": rows, "complete": complete, "read_at": instant()})


def _put(connection: Connection, vendor: str, values: dict[str, Any]) -> None:
    statement = insert(reading).values(vendor=vendor, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=[reading.c.vendor], set_=values))


def keep(connection: Connection, vendors: Iterable[str]) -> None:
    """Forgets the rows of all other vendors: a whole reading did not have them."""
    connection.execute(reading.delete().where(reading.c.vendor.not_in(list(vendors))))


def every(connection: Connection) -> dict[str, Reading]:
    """The last rows of every vendor that takes part."""
    statement = (
        sa.select(reading.c.vendor, reading.c.raw_path, reading.c.rows, reading.c.complete, reading.c.reported_path)
        .join(tables.vendor, tables.vendor.c.vendor == reading.c.vendor)
        .where(tables.vendor.c.forgotten.is_(None))
    )
    return {row.vendor: Reading(*row[1:]) for row in connection.execute(statement)}


def due(connection: Connection, *, every_s: float, rested_s: float = 0.0) -> set[str]:
    """Vendors to compare although their rows did not change: their last run did not end with "unchanged" against the baseline in force,
    or it is longer ago than `every_s`, in which a rejection, a restoration or a setting may have ended. A vendor whose rows the last run could not
    read waits for its next change, or for the next whole reading. `rested_s`: only those whose last run wrote nothing for so long.
    """
    row = tables.vendor_run
    last = (
        sa.select(row.c.state, row.c.failed_step, row.c.base_version, row.c.updated_at)
        .join(tables.run, tables.run.c.run_id == row.c.run_id)
        .where(row.c.vendor == reading.c.vendor, sa.not_(tables.run.c.dry_run))
        .order_by(row.c.generation.desc())
        .limit(1)
        .lateral("last")
    )
    in_step = sa.and_(
        last.c.state == VendorState.UNCHANGED,
        sa.func.coalesce(last.c.base_version, 0) == tables.vendor.c.baseline_version,
        last.c.updated_at > after(-every_s),
    )
    has_no_rows = sa.and_(last.c.state == VendorState.FAILED, last.c.failed_step == "extract")
    statement = (
        sa.select(reading.c.vendor)
        .join(tables.vendor, tables.vendor.c.vendor == reading.c.vendor)
        .outerjoin(last, sa.true())
        .where(
            tables.vendor.c.forgotten.is_(None),
            sa.not_(sa.func.coalesce(sa.or_(in_step, has_no_rows), sa.false())),
            sa.func.coalesce(last.c.updated_at <= after(-rested_s), sa.true()),
        )
    )
    return set(connection.execute(statement).scalars())
