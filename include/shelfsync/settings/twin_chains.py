"""Two chains of one installation that would send to the same stores: each would undo what the other sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.chains import chain_names
from shelfsync.chosen_chain import chosen, variables_of
from shelfsync.errors import ConfigurationError
from shelfsync.settings.reading import read_settings

if TYPE_CHECKING:
    from shelfsync.settings.settings import Settings


def refuse_twin(settings: Settings) -> None:
    """A ConfigurationError if another chain has the same platform, the same chain there, and may have the same stores.

    Two chains that name their stores, and none that is the other's, may share a chain of the platform: it is one chain with two ERPs. What
    only a connection of Airflow gives to another chain is not seen here.
    """
    for name in chain_names():
        if settings.chain in {None, name}:
            continue
        try:
            with chosen(name):
                other = read_settings()
        except ConfigurationError:  # the other chain's own error
            continue
        if _place(other) == _place(settings) and _may_share_stores(other, settings):
            raise ConfigurationError(
                f"{variables_of(str(settings.chain))}PLATFORM__CHAIN",
                f"the chains {settings.chain} and {name} are both {settings.platform.chain} at the platform, and would undo each other's"
                " prices",
                "Correct one of them, or let each name its own stores in sync.vendors.",
            )


def _place(settings: Settings) -> tuple[str, str | None]:
    return (settings.platform.base_url or "").rstrip("/").lower(), settings.platform.chain


def _may_share_stores(one: Settings, other: Settings) -> bool:
    mine, others = set(one.sync.vendors), set(other.sync.vendors)
    return not mine or not others or bool(mine & others)
