"""Reading only what changed: the operator's own SELECT of the rows that changed since a cursor, and where the next reading begins."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa

from shelfsync.erp import database_message
from shelfsync.erp.changes_cursor import Number, Position, Time
from shelfsync.erp.columns import Chunk
from shelfsync.erp.single_select import read_statement
from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from shelfsync.erp.change_file_state import ChangeFile
    from shelfsync.erp.columns import Layout
    from shelfsync.erp.session import Session
    from shelfsync.settings import ErpSettings

CHANGES_SQL = "SHELFSYNC_ERP__CHANGES_SQL"
CHANGES_SQL_FILE = "SHELFSYNC_ERP__CHANGES_SQL_FILE"
CHANGES_FILES = "SHELFSYNC_ERP__CHANGES_FILES"
CHANGES_SINCE_FILE = "SHELFSYNC_ERP__CHANGES_SINCE_FILE"
CHANGES_COLUMN = "SHELFSYNC_ERP__CHANGES_COLUMN"
CHANGES_KIND = "SHELFSYNC_ERP__CHANGES_KIND"
_SINCE = re.compile(r"(?<![:\w]):since\b")
_START = {"timestamp": "1970-01-01 00:00:00", "number": "0"}


@dataclass
class Changes:
    """What a reading of the changes takes and gives: it hands on tables in CHANGED schema by `add`.

    `since`: the cursor of the last reading; None: none is known, so no row is read and the position alone is found. `restart`: the
    position is that of all rows and may lie before `since`, as after the ERP went back to a backup. `files`: those that are known, by
    path, if changes come as files; after the reading, as it left them. `present`: those that the folder has. `covered`: those whose rows the
    reading of the whole has. `failed`: the ERP's id of each store whose own files could not be read -> why; no row of it counts.
    """

    since: str | None
    add: Callable[[pa.Table], None]
    restart: bool = False
    rows: int = 0
    position: Position | None = None
    same_instant: bool = field(default=False)
    """Whether all rows before and these are as of one instant."""
    files: dict[str, ChangeFile] = field(default_factory=dict)
    present: set[str] = field(default_factory=set)
    covered: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Feed:
    """The settings of the changes."""

    given: tuple[str, str | None]
    in_file: tuple[str, Path | None]
    column: str
    kind: str
    overlap: Decimal

    @classmethod
    def of(cls, settings: ErpSettings) -> Self | None:
        """The feed that the settings describe, or None. Raises ConfigurationError if two settings give it."""
        if settings.changes_sql is None and settings.changes_sql_file is None:
            return None
        if settings.changes_sql is not None and settings.changes_sql_file is not None:
            raise ConfigurationError(CHANGES_SQL_FILE, f"{CHANGES_SQL} is set too", "Keep one of the two.")
        return cls(
            (CHANGES_SQL, settings.changes_sql),
            (CHANGES_SQL_FILE, settings.changes_sql_file),
            settings.changes_column,
            settings.changes_kind,
            Decimal(str(settings.changes_overlap)),
        )

    def check(self, session: Session, layout: Layout, whole: Mapping[str, str]) -> None:
        """Raises ConfigurationError if the SELECT cannot be used. `whole`: the columns that the SELECT of all rows gives."""
        try:
            names = session.columns(self._sql(session, None))
        except sa.exc.SQLAlchemyError as error:
            raise database_message.statement_error(
                error, session.url, self.given[0], "the SELECT of the changes"
            ) from None
        found = layout.sources(names, "the SELECT of the changes")
        if missing := [name for name in whole if name not in found]:
            raise ConfigurationError(
                self.given[0],
                f"it has no column {missing[0]!r}, which the SELECT of all rows has",
                "Let both return the same columns: a change replaces the whole row.",
            )
        self._named(names)

    def begin(self, session: Session, changes: Changes) -> None:
        """Finds where the reading after one of the whole begins. Do this first: without a snapshot, what commits meanwhile comes again."""
        last = self._counted(session, None)[1]
        cursor = str(self._value(_START[self.kind]) if last is None else last)
        changes.position = Position(cursor, self.mark(session, cursor))

    def take(self, session: Session, layout: Layout, changes: Changes, chunk_rows: int) -> None:
        """Reads the rows since the cursor and hands them on; then finds where the next reading begins, unless `begin` did.

        With a snapshot, rows and position are of one instant. Without one the position is the greatest value that was read.
        """
        since = self._usable(changes)
        stamps = [] if since is None or changes.restart else [self._value(since)]
        if since is not None:
            for number, (names, rows) in enumerate(session.stream(self._sql(session, since), chunk_rows), 1):
                if not changes.restart:
                    stamps = self._latest([*stamps, *self._stamps(rows, names.index(self._named(names)))])
                chunk = Chunk(names, list(zip(*rows, strict=True)), len(rows), "the SELECT of the changes")
                changes.add(layout.raw(chunk, number=number, first_row=changes.rows + 1))
                changes.rows += len(rows)
        if stamps:
            changes.position = self._position(session, stamps[0])
        elif changes.position is None:
            self.begin(session, changes)
        changes.same_instant = session.snapshot

    def mark(self, session: Session, cursor: str) -> str:
        """How many rows a reading from this cursor would take, and the last change among them."""
        return _mark(*self._counted(session, cursor))

    def _counted(self, session: Session, cursor: str | None) -> tuple[int, Any]:
        """How many rows there are from a cursor on, and the last change among them as a value; None: there is none."""
        sql = self._sql(session, cursor)
        count, last = session.count_and_last(sql, self.column)
        value = None if last is None else self._value(last)
        if value is None or not self._is_ahead(value):
            return count, value
        count, last = session.count_and_last(sql, self.column, until=self._literal(session, value.ahead()))
        return count, None if last is None else self._value(last)

    def _position(self, session: Session, last: Any) -> Position:
        """The position after a reading whose greatest value is `last`. What came after it without a snapshot leaves it without a mark."""
        count, newest = self._counted(session, str(last))
        is_newer = not session.snapshot and newest is not None and newest > last
        return Position(str(last), "" if is_newer else _mark(count, newest))

    def _stamps(self, rows: Sequence[Any], place: int) -> list[Any]:
        """The values of a chunk's rows that count for the cursor."""
        stamps = [self._value(row[place]) for row in rows if row[place] is not None]
        return [stamp for stamp in stamps if not self._is_ahead(stamp)]

    def _is_ahead(self, stamp: Any) -> bool:
        return self.kind == "timestamp" and stamp.moment > stamp.ahead().moment

    def _literal(self, session: Session, value: Any) -> str:
        """A value as it stands in SQL: digits and signs of ISO 8601 alone, see `_value`."""
        if self.kind == "number":
            return str(value)
        dialect = session.url.get_backend_name()
        # The form that a datetime of SQL Server takes in every language of a login: T, and three decimals at most.
        text = value.moment.isoformat("T", "milliseconds") if dialect == "mssql" else str(value)
        return f"TIMESTAMP '{text}'" if dialect == "oracle" else f"'{text}'"

    def _sql(self, session: Session, cursor: str | None) -> str:
        """The SELECT with the literal from which it reads on."""
        sql = read_statement(self.given, self.in_file)
        if not _SINCE.search(sql):
            raise ConfigurationError(
                self.given[0], "it has no :since", "Compare the column of the changes with it: changed_at >= :since."
            )
        since = self._value(_START[self.kind]) if cursor is None else self._value(cursor).before(self.overlap)
        literal = self._literal(session, since)
        return _SINCE.sub(lambda _: literal, sql)

    def _named(self, names: tuple[str, ...]) -> str:
        for name in names:
            if name.casefold() == self.column.casefold():
                return name
        raise ConfigurationError(
            CHANGES_COLUMN,
            f"the SELECT of the changes has no column {self.column!r}; it has {', '.join(map(repr, names))}",
            "Name the column with the time, or the number, of a row's change.",
        )

    def _usable(self, changes: Changes) -> str | None:
        """The last position; None if it is of the kind before and a new one is found anyway. Else that is a ConfigurationError."""
        try:
            return None if changes.since is None else str(self._value(changes.since))
        except ConfigurationError:
            if changes.restart:
                return None
            raise ConfigurationError(
                CHANGES_KIND,
                f"the last position is {changes.since!r}, which is no {self.kind}",
                "If you changed the column, the next full sync finds the position anew. Otherwise set the kind back.",
            ) from None

    def _latest(self, stamps: list[Any]) -> list[Any]:
        """The greatest of them alone; none of none. Raises ConfigurationError if some times have a zone and others have none."""
        try:
            return [max(stamps)] if stamps else []
        except TypeError:
            raise ConfigurationError(
                CHANGES_COLUMN,
                f"some times of {self.column} have a zone, and others (or the last position) have none",
                "Let the SELECT give all of them in one form; the next full sync then finds the position anew.",
            ) from None

    def _value(self, raw: Any) -> Any:
        """A value of the column, a Time or a Number, to be compared. Raises ConfigurationError if it is none of the kind."""
        try:
            return Time.of(raw) if self.kind == "timestamp" else Number.of(raw)
        except (ValueError, TypeError, InvalidOperation):
            raise ConfigurationError(
                CHANGES_KIND,
                f"{self.column} holds {str(raw)[:40]!r}, which is no {self.kind}",
                "Choose timestamp or number, or let the SELECT convert the column (a row version to a whole number).",
            ) from None


def _mark(count: int, last: Any) -> str:
    return f"{count} {'' if last is None else last}"
