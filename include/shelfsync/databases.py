"""Which database has the ledger, and which counts requests. Without an address, a PostgreSQL of its own is started in the state folder."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from pydantic import SecretStr

from shelfsync.local.postgres import running_postgres
from shelfsync.settings.chain_database import database_of_chain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.settings import Settings


@contextlib.contextmanager
def databases(settings: Settings) -> Iterator[tuple[str, str]]:
    """The addresses of the database of the ledger and of the one that counts requests, for as long as the block lasts."""
    limits = settings.rate_limit.database_url
    if settings.database_url is None:
        with running_postgres(settings.home.absolute()) as shared:
            chain = settings.place_of_its_own
            own = shared if chain is None else database_of_chain(SecretStr(shared), chain).get_secret_value()
            yield own, shared if limits is None else limits.get_secret_value()
    else:
        own = settings.database_url.get_secret_value()
        yield own, own if limits is None else limits.get_secret_value()
