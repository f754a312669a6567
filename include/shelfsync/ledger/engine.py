"""How a process reaches the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from shelfsync import database
from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

_POSTGRES = {"postgres", "postgresql"}

IDLE_IN_TRANSACTION_S = 60
"""A process that freezes in the middle of a transaction loses its session, and with it the rows it has locked, after so long."""


def database_url(url: str) -> sa.URL:
    """The address with our driver in it, whichever spelling it came in; ConfigurationError when it is no PostgreSQL."""
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
    """Said to the server once a session; as an option of the connection it would not pass every connection pooler."""
    session.autocommit = True
    session.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_IN_TRANSACTION_S}s'")
    session.autocommit = False


def check(engine: Engine) -> None:
    """One round trip; a ConfigurationError in one line when the server cannot be used."""
    where = f"{engine.url.host}:{engine.url.port or 5432}/{engine.url.database}"
    try:
        with engine.connect() as connection:
            connection.execute(sa.text("SELECT 1"))
    except OperationalError as error:
        said = str(error.orig).strip().splitlines()[0] if error.orig else "no answer"
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL", f"no connection to {where}: {said}", "Start the server, or correct the address."
        ) from None


def libpq_url(engine: Engine) -> str:
    """The engine's address as psycopg itself reads it, password included: for a connection of one's own, never for a message."""
    return engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
