"""One reading session on the ERP's database: read-only, in one snapshot where the dialect has it, and never waiting for ever."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa

from shelfsync.erp import columnar, database_message, statement_time_limit
from shelfsync.erp import connection as connections
from shelfsync.erp.rows_of_stores import DISTINCT_MAX, condition
from shelfsync.erp.single_select import selected

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from contextlib import AbstractContextManager


class Session:
    """Statements of the user's own on one connection, in one snapshot, none of which writes anything.

    `timeout_s` is for each statement and each fetch. The database's own timeout comes first where it has one; when it does not answer at
    all, the connection is cut from this side.
    """

    def __init__(self, connection: sa.Connection, timeout_s: float, *, snapshot: bool) -> None:
        self._connection = connection
        self._timeout_s = timeout_s
        self.url = connection.engine.url
        self._driver = connection.connection.driver_connection
        self._canceled = False
        self.snapshot = snapshot
        """Whether all statements of this session see the database as of one instant."""

    @classmethod
    @contextlib.contextmanager
    def open(cls, url_text: str, timeout_s: float, setting: str = database_message.URL) -> Generator[Self]:
        """A session, rolled back and closed at the end. Raises ConfigurationError with `setting` if the database cannot be reached."""
        engine = connections.create_engine(url_text, timeout_s, setting)
        with contextlib.ExitStack() as stack:
            stack.callback(engine.dispose)
            try:
                connection = stack.enter_context(connections.closing(engine.connect()))
                session = cls(connection, timeout_s, snapshot=connections.begin(connection, timeout_s))
            except sa.exc.SQLAlchemyError as error:
                raise database_message.connection_error(error, engine.url, setting) from None
            yield session

    def columns(self, sql: str) -> tuple[str, ...]:
        """The columns that a SELECT returns, found without reading a row."""
        return self._described(sql)[0]

    def _described(self, sql: str) -> tuple[tuple[str, ...], list[Any]]:
        """The names of a SELECT's columns and the driver's codes of their types, found without reading a row."""
        with self._time_limit():
            result = self._execute(selected("*", sql, "1 = 0"), stream=False)
            names = tuple(result.keys())
            types = [column[1] for column in (result.cursor.description if result.cursor is not None else ())]
            result.close()
        return names, types

    def stream(self, sql: str, rows: int) -> Iterator[tuple[tuple[str, ...], Sequence[Sequence[Any]]]]:
        """The names of the columns and up to `rows` rows at a time, by the database's own cursor."""
        result, finished = None, False
        try:
            with self._time_limit():
                result = self._execute(sql, stream=True)
            names = tuple(result.keys())
            while not finished:
                with self._time_limit():
                    part = result.fetchmany(rows)
                finished = not part
                if part:
                    yield names, part
                del part
        finally:
            with contextlib.suppress(Exception):  # drivers raise their own on a broken connection
                if not finished and connections.reads_on(self._connection):
                    connections.abandon(self._connection, self._driver)
                elif result is not None:
                    result.close()

    def columns_of(
        self, sql: str, rows: int, wanted: Callable[[tuple[str, ...]], Sequence[str]] | None
    ) -> Iterator[tuple[tuple[str, ...], Sequence[Any], int, dict[str, str]]]:
        """The same by columns. With `wanted`, they are texts where the database can give such, and the others may be nulls.

        Last come the columns by name -> type, `text` for a text; none where the database does not give texts.
        """
        if wanted is None or not columnar.gives_columns(self._connection):
            for names, part in self.stream(sql, rows):
                yield names, list(zip(*part, strict=True)), len(part), {}
            return
        names, types = self._described(sql)
        needed = set(wanted(names))
        copy = columnar.Copy(self._connection, sql, types, [name in needed for name in names])
        named = {name: columnar.type_name(self._connection, oid) for name, oid in zip(names, types, strict=True)}
        with self._time_limit():
            # A COPY is one statement until its last row is taken: the limit is on each part.
            statement_time_limit.limit_postgresql(self._connection, 0)
        try:
            for columns, count in copy.parts(rows, self._cancelling):
                yield names, columns, count, named
        except sa.exc.DBAPIError:
            if not self._canceled:
                raise
            why = TimeoutError(f"canceling statement due to statement timeout of {self._timeout_s:g} s")
            raise sa.exc.OperationalError(None, None, why) from None
        with self._time_limit():
            statement_time_limit.limit_postgresql(self._connection, self._timeout_s)

    def distinct(self, sql: str, column: str) -> tuple[list[Any], list[str | None]]:
        """The values of a column, each once, and the condition that selects the rows of each; None if it cannot be written safely.

        No more than DISTINCT_MAX values.
        """
        name = self._connection.dialect.identifier_preparer.quote(column)
        with self._time_limit():
            result = self._execute(selected(f"DISTINCT {name}", sql), stream=True)
            values = [row[0] for row in result.fetchmany(DISTINCT_MAX)]
            result.close()
        return values, [condition(self._connection.dialect, name, value) for value in values]

    def count(self, sql: str) -> Any:
        """How many rows a SELECT returns."""
        return self.number(selected("count(*)", sql))

    def number(self, sql: str) -> Any:
        """The first value of the first row, None if there is none."""
        with self._time_limit():
            return self._execute(sql, stream=False).scalar()

    def count_and_last(self, sql: str, column: str, until: str | None = None) -> tuple[Any, Any]:
        """How many rows a SELECT returns, and the greatest value of one of its columns. `until`: of those up to this literal."""
        name = self._connection.dialect.identifier_preparer.quote(column)
        with self._time_limit():
            whose = None if until is None else f"{name} <= {until}"
            found = self._execute(selected(f"count(*), max({name})", sql, whose), stream=False)
            count, last = tuple(found.one())
        return count, last

    def _execute(self, sql: str, *, stream: bool) -> sa.CursorResult[Any]:
        # Explicitly without parameters: then neither ":name" nor "%" in the operator's SQL has a special meaning.
        statement_time_limit.limit_statement(self._connection, self._timeout_s, stream=stream)
        connection = self._connection.execution_options(no_parameters=True, stream_results=stream)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sa.exc.SAWarning)
            return connection.exec_driver_sql(sql)

    @contextlib.contextmanager
    def _cancelling(self) -> Iterator[None]:
        """Lets the server end the statement if the block takes longer than the timeout, and cuts the connection after the grace."""

        def cancel() -> None:
            self._canceled = True
            statement_time_limit.cancel(self._driver)

        with statement_time_limit.after(self._timeout_s, cancel), self._time_limit():
            yield

    def _time_limit(self) -> AbstractContextManager[None]:
        return statement_time_limit.time_limit(self._connection, self._driver, self._timeout_s)
