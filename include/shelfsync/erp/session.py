"""One reading session on the ERP's database: read-only, in one snapshot where the dialect has it, and never waiting for ever."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import warnings
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa

from shelfsync.erp import diagnosis
from shelfsync.erp.text import ESCAPING, decode
from shelfsync.errors import ConfigurationError
from shelfsync.store import database

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

APPLICATION_NAME = "shelfsync extract"
"""The name of shelfsync's session for the ERP's database administrator, where the database shows such a name."""

DISTINCT_MAX = 20_000
"""A column with more values than that is not the vendor's."""

_CONNECT_S = 10
_CONNECT_ARGUMENT = {
    "psycopg": "connect_timeout",
    "psycopg2": "connect_timeout",
    "pymysql": "connect_timeout",
    "mysqldb": "connect_timeout",
    "mysqlconnector": "connection_timeout",
}
_SNAPSHOTS = {
    "postgresql": "REPEATABLE READ",
    "mysql": "REPEATABLE READ",
    "mariadb": "REPEATABLE READ",
    "oracle": "SERIALIZABLE",
}
"""Dialect -> the level at which every statement sees one instant, without any switch that the server would first need."""
_DATES = (1082, 1083, 1266, 1114, 1184, 1186)
"""PostgreSQL's types date, time, timetz, timestamp, timestamptz, interval: some of their values Python has not."""
_GRACE_S = 2.0
"""How much longer than the database's own timeout shelfsync waits before it cuts the connection."""


def create_engine(url_text: str) -> sa.Engine:
    """An engine for the ERP; connects to nothing. A ConfigurationError names what is wrong with the URL."""
    if url_text.startswith("postgres://"):  # how many tools, Airflow among them, spell it
        url_text = url_text.replace("postgres://", "postgresql://", 1)
    url = database.parsed(url_text, diagnosis.URL)
    if _sqlite_file(url) is not None and not Path(str(_sqlite_file(url))).is_file():
        raise ConfigurationError(
            diagnosis.URL, f"there is no SQLite file {_sqlite_file(url)!r}", "Correct the path after sqlite:///."
        )
    arguments: dict[str, Any] = {}
    try:
        dialect = url.get_dialect()
        if dialect.is_async:
            raise ConfigurationError(
                diagnosis.URL,
                f"the driver of {url.drivername!r} is asynchronous",
                "Name one that is not, such as postgresql+psycopg:// or mysql+pymysql://.",
            )
        if dialect.driver in _CONNECT_ARGUMENT and _CONNECT_ARGUMENT[dialect.driver] not in url.query:
            arguments[_CONNECT_ARGUMENT[dialect.driver]] = _CONNECT_S
        if dialect.driver in {"psycopg", "psycopg2"} and "application_name" not in url.query:
            arguments["application_name"] = APPLICATION_NAME
        return sa.create_engine(url, poolclass=sa.NullPool, connect_args=arguments, hide_parameters=True)
    except (sa.exc.ArgumentError, ImportError) as error:  # ArgumentError: no such dialect
        raise diagnosis.driver_error(error, url) from None


class Session:
    """Statements of the user's own on one connection, in one snapshot, none of which writes anything.

    `timeout_s` is for each statement and each fetch. The database's own timeout comes first where it has one; when it does not answer at
    all, the connection is cut from this side.
    """

    def __init__(self, connection: sa.Connection, timeout_s: float, *, snapshot: bool) -> None:
        self._connection = connection
        self._timeout_s = timeout_s
        self.url = connection.engine.url
        self.snapshot = snapshot
        """Whether all statements of this session see the database as of one instant."""

    @classmethod
    @contextlib.contextmanager
    def open(cls, url_text: str, timeout_s: float) -> Generator[Self]:
        """A session, rolled back and closed at the end. Raises ConfigurationError if the database cannot be reached."""
        engine = create_engine(url_text)
        with contextlib.ExitStack() as stack:
            stack.callback(engine.dispose)
            try:
                connection = stack.enter_context(_closing(engine.connect()))
                level = _snapshot_level(connection)
                if level is not None:
                    connection.execution_options(isolation_level=level)
                if engine.dialect.name == "postgresql":
                    connection.execution_options(postgresql_readonly=True)
                session = cls(connection, timeout_s, snapshot=level is not None or engine.dialect.name == "sqlite")
                session._prepare()
            except sa.exc.SQLAlchemyError as error:
                raise diagnosis.connection_error(error, engine.url) from None
            yield session

    def columns(self, sql: str) -> tuple[str, ...]:
        """The columns that a SELECT returns, found without reading a row."""
        with self._time_limit():
            probe = f"SELECT * FROM (\n{sql}\n) shelfsync_extract WHERE 1 = 0"  # noqa: S608  the user's own SELECT
            result = self._execute(probe, stream=False)
            names = tuple(result.keys())
            result.close()
        return names

    def stream(self, sql: str, rows: int) -> Iterator[tuple[tuple[str, ...], Sequence[Sequence[Any]]]]:
        """The names of the columns and up to `rows` rows at a time, by the database's own cursor."""
        with self._time_limit():
            result = self._execute(sql, stream=True)
        try:
            names = tuple(result.keys())
            while True:
                with self._time_limit():
                    part = result.fetchmany(rows)
                if not part:
                    return
                yield names, part
                del part
        finally:
            with contextlib.suppress(sa.exc.SQLAlchemyError):
                result.close()

    def distinct(self, sql: str, column: str) -> tuple[list[Any], list[str | None]]:
        """The values of a column, each once, and the condition that selects the rows of each; None if it cannot be written safely.

        No more than DISTINCT_MAX values.
        """
        name = self._connection.dialect.identifier_preparer.quote(column)
        with self._time_limit():
            result = self._execute(f"SELECT DISTINCT {name} FROM (\n{sql}\n) shelfsync_extract", stream=True)  # noqa: S608
            values = [row[0] for row in result.fetchmany(DISTINCT_MAX)]
            result.close()
        return values, [self._condition(name, value) for value in values]

    def narrowed(self, sql: str, conditions: Sequence[str]) -> str:
        """The SELECT, its rows that meet one of the conditions."""
        return f"SELECT * FROM (\n{sql}\n) shelfsync_extract WHERE {' OR '.join(conditions)}"  # noqa: S608  see _condition

    def _condition(self, name: str, value: Any) -> str | None:
        # The driver takes the statement without parameters, so that no sign in the operator's SQL has a special meaning.
        if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
            return None
        if isinstance(value, str) and ("%" in value or not value.isascii() or "\0" in value):
            return None
        literal = sa.literal(value).compile(dialect=self._connection.dialect, compile_kwargs={"literal_binds": True})
        return f"{name} = {literal}"

    def count(self, sql: str) -> Any:
        """How many rows a SELECT returns."""
        return self.number(f"SELECT count(*) FROM (\n{sql}\n) shelfsync_extract")  # noqa: S608  the user's own SELECT

    def number(self, sql: str) -> Any:
        """The first value of the first row, None if there is none."""
        with self._time_limit():
            return self._execute(sql, stream=False).scalar()

    def _prepare(self) -> None:
        driver: Any = self._connection.connection.driver_connection
        if self._connection.dialect.driver == "psycopg":
            _take_any_date(driver)
        elif self._connection.dialect.driver == "psycopg2":
            _take_any_date_of_psycopg2(driver)
        if self._connection.dialect.name == "postgresql":
            self._execute(f"SET LOCAL statement_timeout = {max(1, int(self._timeout_s * 1000))}", stream=False)
        elif self._connection.dialect.name == "sqlite":
            driver.text_factory = decode  # one broken text is a broken row, not a broken extract
            self._execute("PRAGMA query_only = ON", stream=False)
            self._execute(
                "BEGIN", stream=False
            )  # the driver begins none for a SELECT; the snapshot is that of the first one

    def _execute(self, sql: str, *, stream: bool) -> sa.CursorResult[Any]:
        # Explicitly without parameters: then neither ":name" nor "%" in the operator's SQL has a special meaning.
        connection = self._connection.execution_options(no_parameters=True, stream_results=stream)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sa.exc.SAWarning)
            return connection.exec_driver_sql(sql)

    @contextlib.contextmanager
    def _time_limit(self) -> Iterator[None]:
        """Cuts the connection if the block takes longer than the timeout and the grace."""
        driver: Any = self._connection.connection.driver_connection
        timer = threading.Timer(self._timeout_s + _GRACE_S, _hang_up, [driver])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


@contextlib.contextmanager
def _closing(connection: sa.Connection) -> Iterator[sa.Connection]:
    """Closes the connection. The error of a broken connection is ignored, because the first error counts."""
    try:
        yield connection
    finally:
        try:
            connection.close()
        except sa.exc.SQLAlchemyError:
            connection.invalidate()


def _snapshot_level(connection: sa.Connection) -> str | None:
    """The isolation level at which a second SELECT sees what the first saw, if the dialect has one."""
    level = _SNAPSHOTS.get(connection.dialect.name)
    try:
        dbapi = connection.connection.dbapi_connection
        known = connection.dialect.get_isolation_level_values(dbapi)  # type: ignore[arg-type]
    except NotImplementedError:
        return None
    finally:
        connection.rollback()
    return level if level in known else None


def _take_any_date(driver: Any) -> None:
    """A date that Python has not (infinity, the year 20000) is its own text, and no end of the whole reading."""
    from psycopg import adapt, pq

    for oid in _DATES:
        usual = driver.adapters.get_loader(oid, pq.Format.TEXT)

        class Tolerant(adapt.Loader):
            def __init__(self, oid: int, context: Any = None, usual: Any = usual) -> None:
                super().__init__(oid, context)
                self._usual = usual(oid, context)

            def load(self, data: Any) -> Any:
                try:
                    return self._usual.load(data)
                except Exception:  # noqa: BLE001  whatever it is, it is this value's
                    return bytes(data).decode("utf-8", ESCAPING)

        driver.adapters.register_loader(oid, Tolerant)


def _take_any_date_of_psycopg2(driver: Any) -> None:
    """The same for the older driver."""
    from psycopg2 import extensions

    for oid in _DATES:

        def tolerant(value: Any, cursor: Any, usual: Any = extensions.string_types[oid]) -> Any:
            try:
                return usual(value, cursor)
            except Exception:  # noqa: BLE001  whatever it is, it is this value's
                return value

        extensions.register_type(extensions.new_type((oid,), "SHELFSYNC_DATE", tolerant), driver)


def _hang_up(driver: Any) -> None:
    """Ends the driver's wait, from another thread."""
    with contextlib.suppress(Exception):
        if hasattr(driver, "interrupt"):  # SQLite
            driver.interrupt()
        elif hasattr(driver, "fileno"):  # psycopg, psycopg2
            with socket.socket(fileno=os.dup(driver.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)
        else:
            driver.close()


def _sqlite_file(url: sa.URL) -> str | None:
    if url.get_backend_name() != "sqlite" or url.database in {None, "", ":memory:"} or "uri" in url.query:
        return None
    return url.database
