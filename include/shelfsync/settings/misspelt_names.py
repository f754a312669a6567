"""A misspelt setting, and what was probably meant."""

from __future__ import annotations

import difflib
import logging
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from shelfsync.chains import chain_slips, meant_by, slips
from shelfsync.chosen_chain import chain_in_use
from shelfsync.errors import ConfigurationError
from shelfsync.settings.precedence import PREFIX, setting_of, variables, where_given
from shelfsync.settings.secret_files import file_variables
from shelfsync.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

log = logging.getLogger(__name__)


def reject_unknown(file: Path) -> None:
    """Raises the error about the first variable that was meant as a setting, and warns of the others."""
    for name in _unknown_names():
        if "__" in name or _nearest(name):
            raise unknown(name, file)
    for line in unknown_lines():
        log.warning("%s", line)


def reject_slips(sections: Mapping[str, Any], names: tuple[str, ...]) -> None:
    """Raises the error about a name that is no chain and that was meant for the chain in use, or for any."""
    chain = chain_in_use()
    for name, error in slips(sections).items():
        if chain is None or chain == name or meant_by(name, names) == chain:
            raise error


def unknown_lines() -> list[str]:
    """A line for each variable that is no setting and resembles none closely, and for each name that is no chain.

    Another program may have set the variable, or another chain is meant, so it is no error of the chain in use.
    """
    lines = [str(error) for error in chain_slips().values()]
    for name in _unknown_names():
        same = [known for known in _names(Settings) if known.endswith(f"__{setting_of(name)}")]
        meant = f"; the nearest is {PREFIX}{same[0]}" if same else ""
        lines.append(f"{name} is set, and there is no such setting{meant}. `shelfsync config show` lists all settings")
    return lines


def _unknown_names() -> list[str]:
    """Variables of the environment whose section is none of shelfsync's. pydantic ignores them."""
    known = {*map(str.upper, Settings.model_fields), *file_variables(Settings)}
    return [name for name in variables() if not {setting_of(name), setting_of(name).partition("__")[0]} & known]


def unknown(name: str, file: Path) -> ConfigurationError:
    """The error about a name that no setting has."""
    near = _nearest(name)
    meant = f"; the nearest is {PREFIX}{near}" if near else ""
    remedy = f"Correct it in {where_given(name, file)}. `shelfsync config show` lists all settings."
    return ConfigurationError(name, f"there is no such setting{meant}", remedy)


def _nearest(name: str) -> str | None:
    """The setting that was probably meant."""
    found = difflib.get_close_matches(setting_of(name), list(_names(Settings)), n=1, cutoff=0.7)
    return found[0] if found else None


def _names(model: type[BaseModel]) -> Iterator[str]:
    """Every section and setting as the environment spells it, without the prefix."""
    for name, field in model.model_fields.items():
        yield name.upper()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from (f"{name.upper()}__{inner}" for inner in _names(field.annotation))
