"""Each chain has a database of its own beside the shared one, and a folder of the lake, unless its settings name others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from shelfsync.errors import ConfigurationError
from shelfsync.settings.precedence import given_by
from shelfsync.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping


_DATABASE_NAME_MAX = 63
"""PostgreSQL cuts a longer name."""


def with_own_database(settings: Settings, overrides: Mapping[str, Any]) -> Settings:
    """A chain has a database of its own beside the shared one, `…_NAME`, and a folder of the lake, unless its section names others.

    The requests of all are counted in the shared database.
    """
    if settings.chain is None:
        return settings
    chain, database, given = settings.place_of_its_own, settings.database_url, given_by(Settings)
    own = {name for source in given.own.values() for name in source()} - set(overrides)
    more: dict[str, Any] = {}
    if database is not None:
        shared = settings.rate_limit.database_url or _database_in(
            overrides, *(source() for source in given.shared.values())
        )
        if shared is None:
            raise ConfigurationError(
                "SHELFSYNC_RATE_LIMIT__DATABASE_URL",
                f"the chain {settings.chain} has a database of its own, and none is named in which all chains count their requests",
                "Set it for all chains, or SHELFSYNC_DATABASE_URL.",
            )
        more["rate_limit"] = settings.rate_limit.model_copy(update={"database_url": shared})
        if chain is not None and "database_url" not in own:
            more["database_url"] = database_of_chain(database, chain)
    if chain is not None and "lake_url" not in own:
        more["lake_url"] = f"{settings.lake.rstrip('/')}/{chain}"
    return settings.model_copy(update=more)


def _database_in(*given: Mapping[str, Any]) -> SecretStr | None:
    """The first database that one of these names."""
    address = next((one["database_url"] for one in given if one.get("database_url") is not None), None)
    return SecretStr(str(address)) if isinstance(address, str) else address


def database_of_chain(shared: SecretStr, chain: str) -> SecretStr:
    """The address of a chain's database beside the shared one. A ConfigurationError if PostgreSQL would cut its name."""
    address = urlsplit(shared.get_secret_value())
    base = address.path.strip("/")
    name = f"{base}_{chain}"
    if not base or len(name.encode()) > _DATABASE_NAME_MAX:
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL",
            f"the chain {chain} has no database: {name!r} is longer than {_DATABASE_NAME_MAX} bytes"
            if base
            else "it names no database",
            f"Name a database with a shorter name, or set SHELFSYNC_CHAINS__{chain.upper()}__DATABASE_URL.",
        )
    return SecretStr(address._replace(path=f"/{name}").geturl())
