"""The time limit of a statement of the ERP's database: what each driver and each database is told, and the cut if neither ends the wait."""

from __future__ import annotations

import contextlib
import math
import os
import socket
import threading
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GRACE_S = 2.0
"""How much longer than the database's own timeout shelfsync waits before it cuts the connection."""
_CONNECT_ARGUMENT = {
    "psycopg": "connect_timeout",
    "psycopg2": "connect_timeout",
    "pymysql": "connect_timeout",
    "mysqldb": "connect_timeout",
    "pymssql": "login_timeout",
    "oracledb": "tcp_connect_timeout",
    "pyodbc": "timeout",
}
_READ_ARGUMENT = {"pymysql": "read_timeout", "mysqldb": "read_timeout", "pymssql": "timeout"}
"""Drivers that end a wait themselves. Their connection may not be closed by another thread while one waits."""
_WRITE_ARGUMENT = {"pymysql": "write_timeout", "mysqldb": "write_timeout"}
MYSQL = {"mysql", "mariadb"}
"""The dialects of which a statement's limit is a variable of the session."""


def time_limits(driver: str, *, connect_s: float, wait_s: float) -> dict[str | None, Any]:
    """The arguments by which this driver ends its wait for a connection, and for an answer if it is one that does."""
    return {
        _CONNECT_ARGUMENT.get(driver): math.ceil(connect_s),
        _READ_ARGUMENT.get(driver): math.ceil(wait_s),
        _WRITE_ARGUMENT.get(driver): math.ceil(wait_s),
    }


def limit_calls(made: sa.Engine, timeout_s: float) -> None:
    """Lets each call on a connection of this engine time out, with drivers that are told so on the connection itself."""

    def connect(dialect: Any, _record: object, arguments: Any, options: Any) -> Any:
        driver = dialect.connect(*arguments, **options)
        if dialect.driver == "oracledb":
            driver.call_timeout = int(timeout_s * 1000)  # of each round trip
        elif dialect.driver == "pyodbc":
            driver.timeout = math.ceil(timeout_s)
        return driver

    sa.event.listen(made, "do_connect", connect)


def limit_statement(connection: sa.Connection, timeout_s: float, *, stream: bool) -> None:
    """Lets MySQL and MariaDB end the next statement by themselves.

    A stream is one statement until its last row, so there the driver's wait for each part is the limit.
    """
    if connection.dialect.name in MYSQL:
        limit_s = 0 if stream else timeout_s
        if getattr(connection.dialect, "is_mariadb", False):
            connection.exec_driver_sql(f"SET SESSION max_statement_time = {limit_s:g}")
        else:
            connection.exec_driver_sql(f"SET SESSION max_execution_time = {int(limit_s * 1000)}")


def limit_postgresql(connection: sa.Connection, timeout_s: float) -> None:
    """PostgreSQL ends the next statements of this transaction itself after `timeout_s`; 0: it does not."""
    limit_ms = max(1, int(timeout_s * 1000)) if timeout_s else 0
    # No cursor of the server's, which the statement before may have had.
    connection.execution_options(stream_results=False).exec_driver_sql(f"SET LOCAL statement_timeout = {limit_ms}")


@contextlib.contextmanager
def time_limit(connection: sa.Connection, driver: Any, timeout_s: float) -> Iterator[None]:
    """Cuts the connection if the block takes longer than the timeout and the grace, unless its driver itself gives up."""
    if connection.dialect.driver in _READ_ARGUMENT:
        yield
        return
    with after(timeout_s + GRACE_S, lambda: hang_up(driver)):
        yield


@contextlib.contextmanager
def after(seconds: float, act: Callable[[], None]) -> Iterator[None]:
    """Acts from another thread if the block takes longer."""
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def cancel(driver: Any) -> None:
    """Asks PostgreSQL to end the statement of a psycopg connection, from another thread."""
    with contextlib.suppress(Exception):
        driver.cancel_safe(timeout=GRACE_S)


def hang_up(driver: Any) -> None:
    """Ends the driver's wait, from another thread."""
    with contextlib.suppress(Exception):
        if hasattr(driver, "interrupt"):  # SQLite
            driver.interrupt()
        elif hasattr(driver, "fileno"):  # psycopg, psycopg2
            with socket.socket(fileno=os.dup(driver.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)
        elif hasattr(driver, "cancel"):  # Oracle
            driver.cancel()
        else:
            driver.close()
