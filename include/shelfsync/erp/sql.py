"""The ERP as a database: one SELECT of the user's own on any SQLAlchemy URL."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.erp import database_message
from shelfsync.erp.changes_query import CHANGES_SQL
from shelfsync.erp.columns import CATALOG_CHANGES, Chunk, Layout
from shelfsync.erp.extract import Extract, none_of
from shelfsync.erp.rows_of_stores import conditions_of
from shelfsync.erp.second_count import COUNT_SQL, check_count, counted_again
from shelfsync.erp.session import Session
from shelfsync.erp.single_select import read_statement, selected
from shelfsync.erp.text import texts
from shelfsync.errors import BrokenOffError, ConfigurationError, TryAgainError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from shelfsync.erp.changes_query import Changes, Feed
    from shelfsync.erp.completeness_proof import Claim
    from shelfsync.erp.extract import FollowedErp
    from shelfsync.settings import SourceSettings

SQL = "SHELFSYNC_ERP__SQL"
SQL_FILE = "SHELFSYNC_ERP__SQL_FILE"
_TRIAL_ROWS = 20
"""How many rows the hook gets to see when the configuration is checked."""


class SqlSource:
    """Reads the SELECT in one read-only snapshot, by the database's cursor, and counts it a second time in the same snapshot."""

    feed = "catalog"
    dumped = False

    def __init__(
        self, settings: SourceSettings, layout: Layout, *, may_be_empty: bool = False, feed: Feed | None = None
    ) -> None:
        if settings.url is None:
            raise ConfigurationError(database_message.URL, "it is not set", "Set it to the database URL of the ERP.")
        if settings.sql is not None and settings.sql_file is not None:
            raise ConfigurationError(SQL_FILE, f"{SQL} is set too", "Keep one of the two.")
        if settings.sql is None and settings.sql_file is None:
            raise ConfigurationError(
                SQL,
                "it is not set",
                f"Give the SELECT that returns vendor, sku and what else there is, here or by {SQL_FILE}.",
            )
        self._url = settings.url
        self._settings = settings
        self._layout = layout
        self._may_be_empty = may_be_empty
        self._feed = feed

    def check(self) -> dict[str, str]:
        if self._layout.hook is not None:
            self._layout.hook.load()
        sql = self._sql()
        with Session.open(self._url.get_secret_value(), self._settings.timeout_s) as session:
            try:
                names = session.columns(sql)
            except sa.exc.SQLAlchemyError as error:
                raise self._statement_error(error, session) from None
            sources = self._layout.sources(names, "the SELECT")
            check_count(session, self._settings.count_sql)
            if self._feed is not None:
                self._feed.check(session, self._layout, sources)
        if self._layout.hook is not None:
            self._try_hook(sql)
        return {}

    def read(self, vendors: Sequence[str] = ()) -> Extract:
        return Extract(self._chunks(tuple(vendors)), self._layout, may_be_empty=self._may_be_empty)

    def followed(self) -> FollowedErp | None:
        return None if self._feed is None else self

    def read_with(self, changes: Changes, vendors: Sequence[str] = ()) -> Extract:
        return Extract(self._chunks(tuple(vendors), changes), self._layout, may_be_empty=self._may_be_empty)

    def read_changes(self, changes: Changes) -> None:
        with self._reading() as session:
            self._take_changes(session, changes)

    def mark(self, cursor: str) -> str:
        with self._reading() as session, self._feed_errors(session):
            return self._followed_feed().mark(session, cursor)

    def stores(self) -> dict[str, str | None]:
        if self._layout.hook is not None:
            return self.read().stores()
        with Session.open(self._url.get_secret_value(), self._settings.timeout_s) as session:
            values, _ = self._vendors(session, self._sql())
        return self._layout.vendor_ids.stores(texts(values))

    def unused_columns(self) -> tuple[str, ...]:
        return self._layout.unused(self._columns(), "the SELECT")

    def absent_columns(self) -> tuple[str, ...]:
        return self._layout.absent(self._columns(), "the SELECT")

    def _columns(self) -> list[str]:
        sql = self._sql()
        with Session.open(self._url.get_secret_value(), self._settings.timeout_s) as session:
            try:
                return list(session.columns(sql))
            except sa.exc.SQLAlchemyError as error:
                raise self._statement_error(error, session) from None

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Session]:
        """A session for rows. If the server is unavailable, the next run may reach it."""
        with contextlib.ExitStack() as stack:
            try:
                session = stack.enter_context(Session.open(self._url.get_secret_value(), self._settings.timeout_s))
            except ConfigurationError as error:
                raise _later(error) from None
            yield session

    def _take_changes(self, session: Session, changes: Changes) -> None:
        with self._feed_errors(session):
            self._followed_feed().take(session, self._layout_of_changes(), changes, self._settings.chunk_rows)

    def _layout_of_changes(self) -> Layout:
        settings = self._settings
        columns = {**settings.columns, "stamp": self._followed_feed().column}
        ids, notation = self._layout.vendor_ids, self._layout.notation
        return Layout(columns, settings.constants, settings.mapping, CATALOG_CHANGES, ids, notation)

    def _followed_feed(self) -> Feed:
        assert self._feed is not None
        return self._feed

    @contextlib.contextmanager
    def _feed_errors(self, session: Session) -> Iterator[None]:
        """The errors of the SELECT of the changes, with its setting; a broken connection is one to try again."""
        try:
            yield
        except (sa.exc.SQLAlchemyError, ValueError, ArithmeticError, TypeError) as error:
            if database_message.passes(error, session.url):
                raise self._broken(error, session, "while its changes were read") from None
            raise database_message.statement_error(
                error, session.url, CHANGES_SQL, "the SELECT of the changes"
            ) from None

    def _chunks(self, vendors: tuple[str, ...], changes: Changes | None = None) -> Generator[Chunk, None, Claim]:
        sql = self._sql()
        with self._reading() as session:
            if vendors and self._layout.hook is None and self._settings.count_sql is None:
                sql = self._of_vendors(session, sql, vendors)
            if changes is not None:
                with self._feed_errors(session):
                    self._followed_feed().begin(session, changes)
            yield from self._stream(session, sql, self._settings.chunk_rows)
            claim = self._claim(session, sql)
            if changes is not None:
                self._take_changes(session, changes)
            return claim

    def _stream(self, session: Session, sql: str, rows: int) -> Generator[Chunk, None, None]:
        read, layout = 0, self._layout
        wanted = None if layout.hook is not None else lambda names: layout.wanted(names, "the SELECT")
        try:
            for names, columns, count, types in session.columns_of(sql, rows, wanted):
                read += count
                typed = frozenset(name for name, kind in types.items() if kind != "text")
                yield Chunk(names, columns, count, "the SELECT", typed=typed, types=types)
        except (sa.exc.SQLAlchemyError, ValueError, ArithmeticError, TypeError) as error:  # drivers raise their own too
            if database_message.is_of_statement(error, session.url, read):
                raise self._statement_error(
                    error, session, f"the SELECT after {read} rows" if read else "the SELECT"
                ) from None
            raise self._broken(error, session, f"after {read} rows") from None

    def _of_vendors(self, session: Session, sql: str, vendors: tuple[str, ...]) -> str:
        """The SELECT of these vendors alone, by the exact values that the ERP has for them; the whole one if a value cannot be written."""
        values, conditions = self._vendors(session, sql)
        wanted = conditions_of(vendors, self._layout.vendor_ids, values, conditions)
        if wanted == []:
            raise none_of(vendors, f"{len(values)} vendors")
        return sql if wanted is None else selected("*", sql, " OR ".join(wanted))

    def _vendors(self, session: Session, sql: str) -> tuple[list[Any], list[str | None]]:
        """The ERP's vendors and the condition of each one's rows (None: none is safe)."""
        try:
            column = self._layout.sources(session.columns(sql), "the SELECT").get("vendor")
            if column is None:
                return [self._layout.constants["vendor"]], [None]
            return session.distinct(sql, column)
        except (sa.exc.SQLAlchemyError, ValueError, ArithmeticError, TypeError) as error:
            raise self._statement_error(error, session) from None

    def _claim(self, session: Session, sql: str) -> Claim:
        own = self._settings.count_sql
        try:
            return counted_again(session, sql, own)
        except sa.exc.SQLAlchemyError as error:
            if database_message.is_of_statement(error, session.url, 0 if own else 1):
                if own:
                    raise database_message.statement_error(error, session.url, COUNT_SQL, "the count") from None
                raise self._statement_error(error, session, "the count of the SELECT") from None
            raise self._broken(error, session, "while its rows were counted") from None

    def _try_hook(self, sql: str) -> None:
        """Runs the hook on the first rows, in a separate session: a missing column is found before all rows are read."""
        with Session.open(self._url.get_secret_value(), self._settings.timeout_s) as session:
            for chunk in self._stream(session, sql, _TRIAL_ROWS):
                self._layout.raw(chunk, number=1, first_row=1)
                return

    def _sql(self) -> str:
        return read_statement((SQL, self._settings.sql), (SQL_FILE, self._settings.sql_file))

    def _statement_error(self, error: BaseException, session: Session, what: str = "the SELECT") -> ConfigurationError:
        setting = SQL if self._settings.sql is not None else SQL_FILE
        return database_message.statement_error(error, session.url, setting, what)

    def _broken(self, error: BaseException, session: Session, when: str) -> BrokenOffError:
        why = database_message.why_broken_off(error, session.url)
        return BrokenOffError(
            f"Reading {database_message.place(session.url)} broke off {when}: {why}. "
            "Nothing was sent; run it again. If it is slow or locked, look at SHELFSYNC_ERP__TIMEOUT_S "
            f"({self._settings.timeout_s:g} s a statement)."
        )


def _later(error: ConfigurationError) -> Exception:
    """If the server is unavailable, the next run may reach it; any other error is one of the configuration."""
    return TryAgainError(str(error), after_s=60) if isinstance(error, UnreachableError) else error
