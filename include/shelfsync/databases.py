"""Which database has the ledger, and which counts requests. Without an address, a PostgreSQL of its own is started in the state folder.

Only a person who begins has one created there: a timer without its settings would send everything anew, past every pause.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from pydantic import SecretStr

from shelfsync.errors import ConfigurationError
from shelfsync.local.postgres import EmbeddedPostgres, running_postgres
from shelfsync.settings.chain_database import database_of_chain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.settings import Settings


def is_there(settings: Settings) -> bool:
    """Whether the settings name a database, or the state folder has one."""
    return settings.database_url is not None or EmbeddedPostgres(settings.home).exists


@contextlib.contextmanager
def databases(settings: Settings, *, create: bool = False) -> Iterator[tuple[str, str]]:
    """The addresses of the database of the ledger and of the one that counts requests, for as long as the block lasts.

    A ConfigurationError if none is named and the state folder has none, unless `create`.
    """
    if not (create or is_there(settings)):
        raise ConfigurationError(
            "SHELFSYNC_HOME",
            f"there is no database in {settings.home.absolute()}, and a new one would not know what was sent",
            "If the installation is new, run `shelfsync check`, which creates it; if not, name its folder in SHELFSYNC_HOME,"
            " or its database in SHELFSYNC_DATABASE_URL.",
        )
    limits = settings.rate_limit.database_url
    if settings.database_url is None:
        with running_postgres(settings.home.absolute()) as shared:
            chain = settings.place_of_its_own
            own = shared if chain is None else database_of_chain(SecretStr(shared), chain).get_secret_value()
            yield own, shared if limits is None else limits.get_secret_value()
    else:
        own = settings.database_url.get_secret_value()
        yield own, own if limits is None else limits.get_secret_value()
