"""How a process reaches the database."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from shelfsync.errors import ConfigurationError
from shelfsync.store import database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection, Engine

_POSTGRES = {"postgres", "postgresql"}

IDLE_IN_TRANSACTION_S = 60
"""If a process freezes in a transaction, it loses its session and its row locks after this time."""


def database_url(url: str) -> sa.URL:
    """The address with shelfsync's driver, for any spelling. Raises ConfigurationError if it is not PostgreSQL."""
    parsed = database.parsed(url, "SHELFSYNC_DATABASE_URL", "postgresql://user:password@host:5432/database")
    if parsed.drivername.split("+")[0] not in _POSTGRES:
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL",
            f"names {parsed.drivername!r}, and the ledger needs PostgreSQL",
            "Write postgresql://user:password@host:5432/database, or leave it unset to have one started here.",
        )
    return parsed.set(drivername="postgresql+psycopg")


def create_engine(url: str, *, pool_size: int = 5) -> Engine:
    """An engine that survives a server's restart: a dead connection is found before it is used."""
    engine = database.make_engine(
        database_url(url),
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_pre_ping=True,
        connect_args={"connect_timeout": 10, "application_name": "shelfsync"},
    )
    sa.event.listen(engine, "connect", _bound)
    return engine


def _bound(session: Any, _record: object) -> None:
    """Sent to the server once a session; as an option of the connection it would not pass every connection pooler."""
    session.autocommit = True
    session.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_IN_TRANSACTION_S}s'")
    session.autocommit = False


def check(engine: Engine) -> None:
    """One round trip. Raises ConfigurationError with one line if the server cannot be used."""
    with reached(engine) as connection:
        connection.execute(sa.text("SELECT 1"))


@contextlib.contextmanager
def reached(engine: Engine) -> Iterator[Connection]:
    """A connection. Raises ConfigurationError with one line if the server cannot be used."""
    where = f"{engine.url.host}:{engine.url.port or 5432}/{engine.url.database}"
    try:
        with engine.connect() as connection:
            yield connection
    except OperationalError as error:
        given = str(error.orig).strip().splitlines()[0] if error.orig else "no answer"
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL", f"no connection to {where}: {given}", "Start the server, or correct the address."
        ) from None


def libpq_url(engine: Engine) -> str:
    """The engine's address as psycopg itself reads it, password included: for a connection of one's own, never for a message."""
    return engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
