"""A database is one chain's: it notes whose, and another chain is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

_CLAIMED = "chain "
_OWNER = "SELECT obj_description(to_regnamespace('ledger'), 'pg_namespace')"


def claim(engine: Engine, chain: str) -> None:
    """Notes in the database whose it is. A ConfigurationError if it is another chain's: one ledger would send both chains' prices."""
    with engine.begin() as connection:
        owner = connection.execute(sa.text(_OWNER)).scalar_one()
    if owner is None:
        with engine.begin() as connection:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(7305002)"))
            owner = connection.execute(sa.text(_OWNER)).scalar_one()
            if owner is None:
                owner = f"{_CLAIMED}{chain}"
                connection.execute(sa.text(f"COMMENT ON SCHEMA ledger IS '{owner}'"))  # a name has no quote
    if owner != f"{_CLAIMED}{chain}":
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL",
            f"the database {engine.url.database} is that of the {owner}, and not of {chain}",
            f"Give the chain {chain} a database of its own. If the {owner} is called {chain} now, run there:"
            f" COMMENT ON SCHEMA ledger IS '{_CLAIMED}{chain}'",
        )
