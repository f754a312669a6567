"""How a process reaches the database, and what an exception of it means.

Every engine comes from an unambiguous address. No error names a value of a statement, because values may be personal.
"""

from __future__ import annotations

import contextlib
import functools
import re
import select
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.exc import (
    DBAPIError,
    InterfaceError,
    InvalidatePoolError,
    OperationalError,
    SQLAlchemyError,
    StatementError,
)

from partner_api.errors import PartnerError
from shelfsync.errors import ConfigurationError, ShelfsyncError, TryAgainError, UnreachableError
from shelfsync.storable import json_text
from shelfsync.store.database_fault import Fault, Next
from shelfsync.store.metadata import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection, Engine

_POSTGRES = {"postgres", "postgresql"}

IDLE_IN_TRANSACTION_S = 60
"""If a process freezes in a transaction, it loses its session and its row locks after this time."""
SILENT_MAX_S = 120
"""After this time without a sign of life of the server's machine, a statement fails. Otherwise it takes the system up to two hours."""
PING_AFTER_S = 10.0
"""A connection that was used within this time is used again without a round trip, unless its socket has something to read."""
_USED_S = "used_s"
_ABOUT_VALUES = ("22", "23", "54")
"""Classes of SQLSTATE that are about the values themselves: data, a rule of the table, a limit of the program."""
_NO_TABLE = "42P01"
_TABLE = re.compile(r'"(?P<table>(?P<schema>\w+)\.\w+)"')
_READ_ONLY = "25006"
"""SQLSTATE of a write to a standby: the address leads to one until a failover has ended."""
_NO_PRIVILEGE, _CREATED_MEANWHILE = "42501", {"42P04", "23505"}
_LENGTH_MAX = 500


def parsed_url(text: str, setting: str, example: str = "dialect+driver://user:password@host:port/database") -> sa.URL:
    """The address. If it is none or ambiguous, raises ConfigurationError, which contains no part of it.

    An `@` in a password that is not written %40 makes the rest of the password a host, and hosts are shown.
    """
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):  # its message holds the URL, and that its password
        raise ConfigurationError(setting, "it is no database URL", f"Write {example}.") from None
    if url.username is not None and text.count("@") > 1:
        raise ConfigurationError(
            setting,
            "its user or password holds a character that ends it too early",
            "Write @ as %40, / as %2F, : as %3A and % as %25 in user and password.",
        )
    return url


def make_engine(url: sa.URL, **options: Any) -> sa.Engine:
    """An engine whose errors name the statement and the fault, and no value, because values may be personal."""
    engine = sa.create_engine(url, hide_parameters=True, **options)
    sa.event.listen(engine, "handle_error", _without_values)
    return engine


def _without_values(context: Any) -> None:
    """PostgreSQL puts the failing row in the DETAIL of its errors; the first line names the fault without it."""
    original, wrapped = context.original_exception, context.sqlalchemy_exception
    given = getattr(getattr(original, "diag", None), "message_primary", None)
    if given and wrapped is not None:
        original.args = (given,)
        wrapped.args = (f"({type(original).__module__}.{type(original).__name__}) {given}",)


def database_url(url: str) -> sa.URL:
    """The address with shelfsync's driver, for any spelling. Raises ConfigurationError if it is not PostgreSQL."""
    parsed = parsed_url(url, "SHELFSYNC_DATABASE_URL", "postgresql://user:password@host:5432/database")
    if parsed.drivername.split("+")[0] not in _POSTGRES:
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL",
            f"names {parsed.drivername!r}, and the ledger needs PostgreSQL",
            "Write postgresql://user:password@host:5432/database, or leave it unset to have one started here.",
        )
    return parsed.set(drivername="postgresql+psycopg")


def create_engine(url: str, *, pool_size: int = 5) -> Engine:
    """An engine that survives a server's restart: a dead connection is found before it is used, and one whose machine vanished in time.

    A server that ends a session says so on its socket. So a connection of a moment ago needs no round trip to show that it lives.
    """
    engine = make_engine(
        _with_signs_of_life(database_url(url)),
        pool_size=pool_size,
        max_overflow=pool_size,
        json_serializer=json_text,
        connect_args={"connect_timeout": 10, "application_name": "shelfsync"},
    )
    sa.event.listen(engine, "connect", _bound)
    sa.event.listen(engine, "connect", _mark_as_used)
    sa.event.listen(engine, "checkin", _mark_as_used)
    sa.event.listen(engine, "checkout", functools.partial(_replace_if_dead, engine.dialect))
    return engine


def is_missing_beside(wanted: sa.URL, chain: str) -> bool:
    """Whether a chain's database `BASE_CHAIN` is not there, and `BASE` is. False if `BASE` cannot be asked."""
    if not (wanted.database or "").endswith(f"_{chain}"):
        return False
    try:
        with _base_of(wanted, chain) as connection:
            known = sa.text("SELECT 1 FROM pg_database WHERE datname = :name")
            return connection.execute(known, {"name": wanted.database}).one_or_none() is None
    except SQLAlchemyError:
        return False


def create_beside(wanted: sa.URL, chain: str) -> None:
    """Creates a chain's database `BASE_CHAIN` beside `BASE`, unless another process has meanwhile.

    A ConfigurationError has the statement for an administrator, if the role may create none.
    """
    try:
        with _base_of(wanted, chain) as connection:
            quoted = connection.dialect.identifier_preparer.quote(str(wanted.database))
            connection.execute(sa.text(f"CREATE DATABASE {quoted}"))
    except SQLAlchemyError as error:
        state = getattr(_cause(error), "sqlstate", None)
        if state == _NO_PRIVILEGE:
            raise ConfigurationError(
                "SHELFSYNC_CHAIN",
                f"there is no database {wanted.database}, and the role {wanted.username} may not create it",
                f"Let an administrator run: CREATE DATABASE {quoted} OWNER {wanted.username};",
            ) from None
        if state not in _CREATED_MEANWHILE:
            raise trouble(error) or error from None


@contextlib.contextmanager
def _base_of(wanted: sa.URL, chain: str) -> Iterator[Connection]:
    """A connection to `BASE`, where `BASE_CHAIN` is wanted."""
    base = wanted.set(database=str(wanted.database).removesuffix(f"_{chain}"))
    engine = make_engine(base, poolclass=sa.NullPool)
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            yield connection
    finally:
        engine.dispose()


def _mark_as_used(_session: Any, record: Any) -> None:
    record.info[_USED_S] = time.monotonic()


def _replace_if_dead(dialect: Any, session: Any, record: Any, _given: object) -> None:
    """Raises what makes the pool open another connection, if this one is dead."""
    if time.monotonic() - record.info[_USED_S] < PING_AFTER_S and not _has_something_to_read(session):
        return
    try:
        dialect.do_ping(session)
    except psycopg.Error as error:
        if dialect.is_disconnect(error, session, None):
            raise InvalidatePoolError from error
        raise


def _has_something_to_read(session: Any) -> bool:
    """True also for a connection without a socket: the ping names its fault."""
    try:
        socket = session.pgconn.socket
    except psycopg.Error:
        return True
    look = select.poll()
    look.register(socket, select.POLLIN)
    return bool(look.poll(0))


def _with_signs_of_life(url: sa.URL) -> sa.URL:
    """The address with the options of libpq that find a vanished machine; what the address itself has stays."""
    options = {
        "keepalives_idle": SILENT_MAX_S // 4,
        "keepalives_interval": SILENT_MAX_S // 12,
        "keepalives_count": 9,
        # the others are about a silent connection, this one about bytes that are not confirmed
        "tcp_user_timeout": SILENT_MAX_S * 1000,
    }
    return url.update_query_dict({name: str(value) for name, value in options.items() if name not in url.query})


def _bound(session: Any, _record: object) -> None:
    """Sent to the server once a session; as an option of the connection it would not pass every connection pooler.

    In UTC, Python can hold the last instants of the year 9999, with which an ERP means "no end"; east of it, they are in the year 10000.
    Compiling costs more than it saves: it takes a second for a statement about many stores, which runs a tenth of that.
    The server looks for a client whose machine has vanished as the client looks for the server, so that its locks are free within minutes.
    """
    session.autocommit = True
    signs = {"idle": SILENT_MAX_S // 4, "interval": SILENT_MAX_S // 12, "count": 9}
    session.execute(
        f"SET idle_in_transaction_session_timeout = '{IDLE_IN_TRANSACTION_S}s'; SET TIME ZONE 'UTC'; SET jit = off; "
        + "; ".join(f"SET tcp_keepalives_{name} = {number}" for name, number in signs.items())
    )
    session.autocommit = False


def check(engine: Engine) -> None:
    """One round trip. Raises UnreachableError with one line if the server cannot be used."""
    with reached(engine) as connection:
        connection.execute(sa.text("SELECT 1"))


@contextlib.contextmanager
def reached(engine: Engine) -> Iterator[Connection]:
    """A connection. Raises UnreachableError with one line if the server cannot be used."""
    where = f"{engine.url.host}:{engine.url.port or 5432}/{engine.url.database}"
    try:
        with engine.connect() as connection:
            yield connection
    except SQLAlchemyError as error:
        fault = fault_of(error)
        if fault is None and not isinstance(error, OperationalError):
            raise
        setting, problem = "SHELFSYNC_DATABASE_URL", f"no connection to {where}: {_first_line(error)}"
        if fault is not None and not fault.passes:
            raise ConfigurationError(setting, problem, f"{fault.remedy}: {where} {fault.what}.") from None
        if fault in {None, Fault.AWAY, Fault.LOST}:
            raise UnreachableError(setting, problem, "Start the server, or correct the address.") from None
        raise UnreachableError(setting, problem, f"{fault.remedy}; then run the command again.") from None


def trouble(error: BaseException) -> ConfigurationError | TryAgainError | None:
    """A failure of the server itself as one line: a full disk, a lock, a restart; None if the error is of another kind.

    ConfigurationError: the server works, and a person grants a right, raises a limit or corrects the address.
    """
    if (lost := _lost_table(error)) is not None:
        problem = f"the database of shelfsync has lost {lost!r}: {_first_line(error)}"
        remedy = (
            "Restore its last backup (docs/how-to/backup.md); if the address is that of another database, correct it."
        )
        return ConfigurationError("SHELFSYNC_DATABASE_URL", problem, remedy)
    fault = fault_of(error)
    if fault is not None and fault.next in {Next.RIGHTS, Next.ADDRESS}:
        problem = f"the database of shelfsync {fault.what}: {_first_line(error)}"
        return ConfigurationError("SHELFSYNC_DATABASE_URL", problem, f"{fault.remedy} for the user of the URL.")
    known = isinstance(error, OperationalError | InterfaceError | psycopg.OperationalError | psycopg.InterfaceError)
    if (fault is None or not fault.passes) and not known:
        return None
    what = f" (it {fault.what})" if fault is not None else ""
    remedy = fault.remedy if fault is not None else "Look at the log and the disk of its server"
    return TryAgainError(
        f"the database of shelfsync failed: {_first_line(error).rstrip('.')}{what}. {remedy}, then run the command again"
    )


def _lost_table(error: BaseException) -> str | None:
    """The table or view of shelfsync's own schemas that the database does not have; None for any other error."""
    if not isinstance(error, SQLAlchemyError | psycopg.Error) or getattr(_cause(error), "sqlstate", None) != _NO_TABLE:
        return None
    named = _TABLE.search(str(_cause(error)))
    return named["table"] if named is not None and named["schema"] in SCHEMAS else None


def fault_of(error: BaseException) -> Fault | None:
    """What an error of shelfsync's database means; of no other error."""
    if not isinstance(error, SQLAlchemyError | psycopg.Error):
        return None
    if getattr(_cause(error), "sqlstate", None) == _READ_ONLY:
        return Fault.STARTING
    return Fault.of(error, "postgresql")


def libpq_url(engine: Engine) -> str:
    """The engine's address as psycopg itself reads it, password included: for a connection of one's own, never for a message."""
    return engine.url.set(drivername="postgresql").render_as_string(hide_password=False)


def is_about_values(error: BaseException) -> bool:
    """True when the database rejects the values that were written: the same statement with other values may succeed."""
    cause = _cause(error)
    state = getattr(cause, "sqlstate", None)
    return isinstance(cause, psycopg.DataError) if state is None else state[:2] in _ABOUT_VALUES


def is_database_trouble(error: BaseException) -> bool:
    """True when the database failed for a reason that is not in the values: it is unavailable, or not as this version expects it."""
    if isinstance(error, StatementError) and not isinstance(error, DBAPIError):
        return False  # a value that the driver cannot even write
    return isinstance(error, SQLAlchemyError | psycopg.Error) and not is_about_values(error)


def reason(error: BaseException) -> str:
    """One line that quotes no value: the text of an error of this project, of any other its kind and its place in the code."""
    if isinstance(error, ShelfsyncError | PartnerError):
        return str(error)[:_LENGTH_MAX]
    cause = _cause(error)
    state = getattr(cause, "sqlstate", None)
    what = type(cause).__name__ + (f" (SQLSTATE {state})" if state else "")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "shelfsync" in Path(frame.filename).parts]
    return f"{what} in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else what


def _first_line(error: BaseException) -> str:
    """The server's message without its DETAIL, which may quote a row."""
    cause = _cause(error)
    given = getattr(getattr(cause, "diag", None), "message_primary", None) or str(cause)
    return given.strip().partition("\n")[0] or "no answer"


def _cause(error: BaseException) -> BaseException:
    """The driver's exception, if SQLAlchemy wraps it."""
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
