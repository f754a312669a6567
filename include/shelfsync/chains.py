"""The chains of one installation: their names, and where the settings of each are given.

A chain is a section `[chains.NAME]` of the settings file, or variables `SHELFSYNC_CHAINS__NAME__...`. What it sets is its own; everything else
it shares with the others. An installation without such a section is one chain, without a name.
"""

from __future__ import annotations

import difflib
import os
import re
from typing import TYPE_CHECKING, Any

from shelfsync.chosen_chain import PREFIX, find_alone_by
from shelfsync.errors import ConfigurationError
from shelfsync.settings_file import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_YES = ("true", "1", "yes", "on", "t", "y")
_TAKEN = ("pages", "webhook")
"""Paths of Airflow's API server."""
_NAME_MAX = 30
"""The name is a part of a database's name, and PostgreSQL cuts those at 63 bytes."""


def sections_of(file: Mapping[str, Any]) -> dict[str, Any]:
    """What the settings file has under `chains`, by name."""
    sections = file.get("chains", {})
    return sections if isinstance(sections, dict) else {}


def chain_names() -> tuple[str, ...]:
    """The chains of this installation, sorted; none: it is one chain, without a name."""
    return names_in(sections_of(read_file()))


def chain_slips() -> dict[str, ConfigurationError]:
    """Name -> its error, of each name of this installation that is no chain."""
    return slips(sections_of(read_file()))


def chain_that_was_alone(file: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> str | None:
    """The chain that keeps what was there before the others; a ConfigurationError if two say so: both would have one ledger."""
    given = {name: section.get("was_alone") for name, section in sections_of(file).items() if isinstance(section, dict)}
    for variable, value in environ.items():
        if variable.upper().startswith(PREFIX) and variable.upper().endswith("__WAS_ALONE"):
            given[variable.upper().removeprefix(PREFIX).removesuffix("__WAS_ALONE").lower()] = value
    found = sorted(name for name, value in given.items() if str(value).strip().lower() in _YES)
    if len(found) > 1:
        raise ConfigurationError(
            f"chains.{found[1]}.was_alone",
            f"the chains {', '.join(found)} say that they were alone, and both would have one ledger",
            "Leave it at one of them.",
        )
    return found[0] if found else None


def alone_here() -> str | None:
    """The chain that was alone, by the settings of this process; None: there is none, or the settings cannot be read."""
    try:
        return chain_that_was_alone(read_file())
    except ConfigurationError:
        return None


find_alone_by(alone_here)


def names_in(sections: Mapping[str, Any]) -> tuple[str, ...]:
    """Every chain, sorted. `sections`: what the file has under `chains`."""
    wrong = slips(sections)
    return tuple(sorted(name for name in {*sections, *_named_by_variables()} if name not in wrong))


def slips(sections: Mapping[str, Any]) -> dict[str, ConfigurationError]:
    """Name -> its error, of each that is no chain: it cannot name one, or a variable names none of the file's chains.

    The error is the one chain's that was probably meant (`meant_by`). The others go on.
    """
    named, wrong = _named_by_variables(), {}
    for name in sorted({*sections, *named}):
        if _NAME.fullmatch(name) is None or len(name) > _NAME_MAX or name in _TAKEN:
            wrong[name] = ConfigurationError(
                named.get(name, f"chains.{name}"),
                f"{name!r} cannot name a chain",
                f"Write small letters, digits and single underscores, at most {_NAME_MAX}, a letter first; not pages or webhook.",
            )
        elif sections and name not in sections:
            wrong[name] = ConfigurationError(
                named[name],
                f"the settings file has no chain {name!r}",
                f"Its chains are {', '.join(sorted(sections))}; add [chains.{name}] to the file, or correct the variable.",
            )
    return wrong


def meant_by(slip: str, names: Iterable[str]) -> str | None:
    """The chain that was probably meant; None: no name is near. `north_erp` lacks an underscore behind `north`."""
    known = sorted(names, key=len, reverse=True)
    begun = [name for name in known if slip.lower().startswith(f"{name}_")]
    return next(iter([*begun, *difflib.get_close_matches(slip.lower(), known, n=1, cutoff=0.7)]), None)


def _named_by_variables() -> dict[str, str]:
    """Name -> the last variable that names it."""
    variables = sorted(name.upper() for name in os.environ if name.upper().startswith(PREFIX))
    return {variable.removeprefix(PREFIX).partition("__")[0].lower(): variable for variable in variables}
