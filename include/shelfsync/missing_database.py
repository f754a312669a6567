"""A chain whose database is not there: only a person who begins with the chain has it created."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.store.engine import create_beside, create_engine, is_missing_beside

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable

    from sqlalchemy.engine import Engine


def open_ready(
    address: str,
    stack: contextlib.ExitStack,
    ready: Callable[[Engine], None],
    *,
    chain: str | None = None,
    create: bool = False,
) -> Engine:
    """An engine on a database that `ready` accepts. `chain`: whose own it is; `create`: it is created if it is not there."""
    engine = create_engine(address)
    stack.callback(engine.dispose)
    try:
        ready(engine)
    except ShelfsyncError:
        if chain is None or not is_missing_beside(engine.url, chain):
            raise
        if not create:
            raise _no_database(engine, chain) from None
        create_beside(engine.url, chain)
        ready(engine)
    return engine


def _no_database(engine: Engine, chain: str) -> ConfigurationError:
    return ConfigurationError(
        "SHELFSYNC_CHAIN",
        f"there is no database {engine.url.database}, and a new one would not know what was sent for the chain {chain}",
        f"If the chain is new, run `shelfsync --chain {chain} check`, which creates it; if not, let an administrator give the database its name back.",
    )
