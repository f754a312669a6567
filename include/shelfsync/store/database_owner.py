"""A database is one chain's: it notes whose, and another chain is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

_CLAIMED = "chain "
_OWNER = "SELECT obj_description(to_regnamespace('ledger'), 'pg_namespace')"


def claim(engine: Engine, chain: str) -> None:
    """Notes in the database whose it is. A ConfigurationError if it is another chain's: one ledger would send both chains' prices."""
    with engine.begin() as connection:
        owner = _owner(connection)
    if owner is None:
        with engine.begin() as connection:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(7305002)"))
            owner = _owner(connection)
            if owner is None:
                owner = f"{_CLAIMED}{chain}"
                connection.execute(sa.text(f"COMMENT ON SCHEMA ledger IS '{owner}'"))  # a name has no quote
    _require(owner, engine, chain)


def require_owner(engine: Engine, chain: str) -> None:
    """The same ConfigurationError, and nothing is noted."""
    with engine.begin() as connection:
        owner = _owner(connection)
    if owner is not None:
        _require(owner, engine, chain)


def _owner(connection: Connection) -> str | None:
    owner: str | None = connection.execute(sa.text(_OWNER)).scalar_one()
    return owner


def _require(owner: str, engine: Engine, chain: str) -> None:
    if owner != f"{_CLAIMED}{chain}":
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL",
            f"the database {engine.url.database} is that of the {owner}, and not of {chain}",
            f"Give the chain {chain} a database of its own. If the {owner} is called {chain} now, run there:"
            f" COMMENT ON SCHEMA ledger IS '{_CLAIMED}{chain}'",
        )
