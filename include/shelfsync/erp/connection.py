"""The connection to the ERP's database: what each driver receives when it connects, and what is begun on it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.erp import database_message
from shelfsync.erp.statement_time_limit import GRACE_S, MYSQL, limit_calls, limit_postgresql, time_limits
from shelfsync.erp.text import ESCAPING, decode
from shelfsync.errors import ConfigurationError
from shelfsync.store import engine

if TYPE_CHECKING:
    from collections.abc import Iterator

APPLICATION_NAME = "shelfsync extract"
"""The name of shelfsync's session for the ERP's database administrator, where the database shows such a name."""

_CONNECT_S = 10
_ENCODING_ARGUMENT = {"psycopg": "client_encoding"}
"""A database that does not know its own encoding (SQL_ASCII) would give bytes for each text, and this driver does not expect that."""
_NAME_ARGUMENT = {"psycopg": "application_name", "psycopg2": "application_name", "pymssql": "appname"}
_SNAPSHOTS = {
    "postgresql": "REPEATABLE READ",
    "mysql": "REPEATABLE READ",
    "mariadb": "REPEATABLE READ",
    "oracle": "SERIALIZABLE",
}
"""Dialect -> the level at which every statement sees one instant, without any switch that the server would first need."""
_DATES = (1082, 1083, 1266, 1114, 1184, 1186)
"""PostgreSQL's types date, time, timetz, timestamp, timestamptz, interval: some of their values Python has not."""
_SLOWEST_READER_S = 3600
"""How long MySQL and MariaDB wait for shelfsync to take more rows; their default of a minute ends a busy run."""


def create_engine(url_text: str, timeout_s: float, setting: str = database_message.URL) -> sa.Engine:
    """An engine for the ERP; connects to nothing. A ConfigurationError names what is wrong with the URL, which is in `setting`.

    `timeout_s`: how long the driver may wait for an answer, if it is one that ends its wait itself.
    """
    if url_text.startswith("postgres://"):  # how many tools, Airflow among them, spell it
        url_text = url_text.replace("postgres://", "postgresql://", 1)
    url = engine.parsed_url(url_text, setting)
    if _sqlite_file(url) is not None and not Path(str(_sqlite_file(url))).is_file():
        raise ConfigurationError(
            setting, f"there is no SQLite file {_sqlite_file(url)!r}", "Correct the path after sqlite:///."
        )
    try:
        dialect = url.get_dialect()
        if dialect.is_async:
            raise ConfigurationError(
                setting,
                f"the driver of {url.drivername!r} is asynchronous",
                "Name one that is not, such as postgresql+psycopg:// or mysql+pymysql://.",
            )
        if dialect.name in MYSQL and not dialect.supports_server_side_cursors:
            raise ConfigurationError(
                setting,
                f"the driver of {url.drivername!r} keeps the whole result in memory",
                f"Write {dialect.name}+pymysql:// instead.",
            )
        wanted = time_limits(dialect.driver, connect_s=_CONNECT_S, wait_s=timeout_s + GRACE_S) | {
            _NAME_ARGUMENT.get(dialect.driver): APPLICATION_NAME,
            _ENCODING_ARGUMENT.get(dialect.driver): "utf8",
        }
        arguments = {name: value for name, value in wanted.items() if name is not None and name not in url.query}
        made = sa.create_engine(url, poolclass=sa.NullPool, connect_args=arguments, hide_parameters=True)
    except (sa.exc.ArgumentError, ImportError) as error:  # ArgumentError: no such dialect
        raise database_message.driver_error(error, url, setting) from None
    limit_calls(made, timeout_s)
    return made


@contextlib.contextmanager
def closing(connection: sa.Connection) -> Iterator[sa.Connection]:
    """Closes the connection. The error of a broken connection is ignored, because the first error counts."""
    try:
        yield connection
    finally:
        try:
            connection.close()
        except Exception:  # noqa: BLE001  drivers raise their own too
            with contextlib.suppress(Exception):
                connection.invalidate()


def begin(connection: sa.Connection, timeout_s: float) -> bool:
    """Begins a transaction that only reads, as far as the dialect has such; returns whether it sees the database as of one instant."""
    name, driver = connection.dialect.name, connection.connection.driver_connection
    level = _snapshot_level(connection)
    if level is not None:
        connection.execution_options(isolation_level=level)
    if connection.dialect.driver == "psycopg":
        _take_any_date(driver)
    elif connection.dialect.driver == "psycopg2":
        _take_any_date_of_psycopg2(driver)
    if name == "postgresql":
        connection.execution_options(postgresql_readonly=True)
        limit_postgresql(connection, timeout_s)
    elif name in MYSQL:
        connection.exec_driver_sql(f"SET SESSION net_write_timeout = {_SLOWEST_READER_S}")
        connection.exec_driver_sql("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
    elif name == "sqlite":
        driver.text_factory = decode  # type: ignore[union-attr]  # one broken text is a broken row, not a broken extract
        connection.exec_driver_sql("PRAGMA query_only = ON")
        connection.exec_driver_sql(
            "BEGIN"
        )  # the driver begins none for a SELECT; the snapshot is that of the first one
    return level is not None or name == "sqlite"


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


def reads_on(connection: sa.Connection) -> bool:
    """Whether closing a result in order first takes all rows that are left: the drivers of MySQL and MariaDB."""
    return connection.dialect.name in MYSQL


def abandon(connection: sa.Connection, driver: Any) -> None:
    """Ends a statement of such a driver whose rows are not wanted any more, also on the server, which would go on until it writes a row."""
    unread = getattr(driver, "_result", None)
    if unread is not None:  # PyMySQL would read on when it is deleted, and print what that raises
        unread.unbuffered_active = False
    connection.invalidate()
    with contextlib.suppress(sa.exc.SQLAlchemyError), connection.engine.connect() as other:
        other.exec_driver_sql(f"KILL {driver.thread_id()}")


def _sqlite_file(url: sa.URL) -> str | None:
    if url.get_backend_name() != "sqlite" or url.database in {None, "", ":memory:"} or "uri" in url.query:
        return None
    return url.database
