"""Where settings are given, and what goes before what: the environment before the file, and both before the default.

What is given for a chain alone goes before what all chains share.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource

from shelfsync.chain_settings import OWN_SECTIONS, OWN_SETTINGS
from shelfsync.chains import chain_that_was_alone, sections_of
from shelfsync.chosen_chain import PREFIX as OF_CHAINS
from shelfsync.chosen_chain import chain_in_use, variables_of
from shelfsync.settings.secret_files import Environment
from shelfsync.settings_file import config_file, read_file

if TYPE_CHECKING:
    from pathlib import Path

PREFIX = "SHELFSYNC_"
"""Of every setting in the environment."""


@dataclass(frozen=True)
class Given:
    """Where settings are given, by its name for people: for the chain in use alone (nothing without one), and for all chains."""

    own: dict[str, PydanticBaseSettingsSource]
    shared: dict[str, PydanticBaseSettingsSource]

    @property
    def sources(self) -> dict[str, PydanticBaseSettingsSource]:
        """All of them: what is given for the chain alone goes before what all chains share."""
        return self.own | self.shared


def given_by(settings_cls: type[BaseSettings]) -> Given:
    """What environment and file give. The chain that was alone has all that is given for the installation; the others what may be shared."""
    file, chain, shared = config_file(), chain_in_use(), read_file()
    everything = chain is not None and chain == chain_that_was_alone(shared)
    of_chain = sections_of(shared).get(chain or "", {})
    shared.pop("chains", None)
    if chain is None:
        of_all = {
            "environment": Environment(settings_cls),
            f"file {file}": InitSettingsSource(settings_cls, shared),
        }
        return Given({}, of_all)
    own = {
        "environment of the chain": Environment(settings_cls, env_prefix=variables_of(chain)),
        f"file {file}, [chains.{chain}]": InitSettingsSource(settings_cls, of_chain),
    }
    texts = {"environment": Environment(settings_cls)(), f"file {file}": shared}
    return Given(
        own,
        {
            name: InitSettingsSource(settings_cls, given if everything else _that_may_be_shared(given))
            for name, given in texts.items()
        },
    )


def _that_may_be_shared(given: dict[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in given.items() if name not in OWN_SECTIONS}
    for section, own in OWN_SETTINGS.items():
        if isinstance(inner := found.get(section), dict):
            found[section] = {name: value for name, value in inner.items() if name not in own}
    return found


def variables() -> list[str]:
    """Variables of the environment for the chain in use and for all chains: a slip of the pen in another's stops that one alone."""
    chain = chain_in_use()
    ours = sorted(name.upper() for name in os.environ if name.upper().startswith(PREFIX))
    mine = chain and variables_of(chain)
    return [name for name in ours if not name.startswith(OF_CHAINS) or (mine and f"{name}__".startswith(mine))]


def setting_of(variable: str) -> str:
    """The setting that a variable was meant for, as the environment spells it: without the prefix of shelfsync and of a chain."""
    if variable.startswith(OF_CHAINS):
        return variable.removeprefix(OF_CHAINS).partition("__")[2]
    return variable.removeprefix(PREFIX)


def where_given(name: str, file: Path) -> str:
    """What sets this name: the environment has priority over the file, and may have a whole section as JSON."""
    given = {*map(str.upper, os.environ), *(PREFIX + setting_of(variable.upper()) for variable in os.environ)}
    parts = name.split("__")
    return "the environment" if any("__".join(parts[:n]) in given for n in range(1, len(parts) + 1)) else str(file)
