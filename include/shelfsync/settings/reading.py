"""Reads the settings of this process; an error names in one line the setting that is wrong."""

from __future__ import annotations

import difflib
import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

from pydantic import BaseModel, ValidationError

from shelfsync.access import refuse_shared
from shelfsync.errors import ConfigurationError
from shelfsync.settings.settings import FILE, Settings, config_file

if TYPE_CHECKING:
    from collections.abc import Iterator

log = logging.getLogger(__name__)

_PREFIX = "SHELFSYNC_"


def read_settings(**overrides: Any) -> Settings:
    """The settings of this process; a ConfigurationError names the first that is wrong, and how it is spelled in the environment."""
    named = os.environ.get("SHELFSYNC_CONFIG")
    if named and not Path(named).is_file():
        raise ConfigurationError(
            "SHELFSYNC_CONFIG", f"there is no file {named!r}", "Name an existing TOML file or unset it."
        )
    file = config_file()
    if file.is_file():
        refuse_shared(file, "SHELFSYNC_CONFIG" if named else "SHELFSYNC_HOME")
    if not named and Path(FILE).is_file() and Path(FILE).resolve() != file.resolve():
        log.warning("./%s is not read; name it by SHELFSYNC_CONFIG, or move it to %s", FILE, file.absolute())
    _refuse_unknown(file)
    try:
        return Settings(**overrides)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = _PREFIX + "__".join(str(part).upper() for part in first["loc"])
        if first["type"] == "extra_forbidden":
            raise _unknown(name, file) from None
        remedy = f"Correct it in the environment or in {file}."
        raise ConfigurationError(name, first["msg"], remedy) from None
    except ValueError as error:  # a mapping of the environment or a TOML file that does not parse
        if found := _no_mapping():
            name, why = found
            remedy = 'Write it as JSON in single quotes: \'{"sku": "item_code"}\'.'
            raise ConfigurationError(name, f"its value is no JSON: {why}", remedy) from None
        raise ConfigurationError(
            "SHELFSYNC_CONFIG", f"{file} cannot be read: {error}", "Correct the file's syntax."
        ) from None


def _refuse_unknown(file: Path) -> None:
    """Raises the error about the first variable that was meant as a setting, and warns of the others."""
    for name in _unknown_names():
        if "__" in name or _nearest(name):
            raise _unknown(name, file)
    for line in unknown_lines():
        log.warning("%s", line)


def unknown_lines() -> list[str]:
    """A line for each variable that is no setting and resembles none closely. Another program may have set it, so it is no error."""
    lines = []
    for name in _unknown_names():
        same = [known for known in _names(Settings) if known.endswith(f"__{name.removeprefix(_PREFIX)}")]
        meant = f"; the nearest is {_PREFIX}{same[0]}" if same else ""
        lines.append(f"{name} is set, and there is no such setting{meant}. `shelfsync config show` lists all settings")
    return lines


def _unknown_names() -> list[str]:
    """Variables of the environment whose section is none of shelfsync's. pydantic ignores them."""
    ours = sorted(name.upper() for name in os.environ if name.upper().startswith(_PREFIX))
    sections = [name.removeprefix(_PREFIX).partition("__")[0].lower() for name in ours]
    return [name for name, section in zip(ours, sections, strict=True) if section not in Settings.model_fields]


def _no_mapping() -> tuple[str, str] | None:
    """The first variable of a mapping whose value is no JSON, and why; the value itself may be a secret."""
    for name in sorted(os.environ):
        model: Any = Settings
        for part in name.upper().removeprefix(_PREFIX).lower().split("__"):
            model = model.model_fields[part].annotation if part in getattr(model, "model_fields", {}) else None
        if name.upper().startswith(_PREFIX) and get_origin(model) is dict:
            try:
                json.loads(os.environ[name])
            except ValueError as error:
                return name.upper(), str(error)
    return None


def _unknown(name: str, file: Path) -> ConfigurationError:
    """The error about a name that no setting has."""
    near = _nearest(name)
    meant = f"; the nearest is {_PREFIX}{near}" if near else ""
    remedy = f"Correct it in the environment or in {file}. `shelfsync config show` lists all settings."
    return ConfigurationError(name, f"there is no such setting{meant}", remedy)


def _nearest(name: str) -> str | None:
    """The setting that was probably meant."""
    found = difflib.get_close_matches(name.removeprefix(_PREFIX), list(_names(Settings)), n=1, cutoff=0.7)
    return found[0] if found else None


def _names(model: type[BaseModel]) -> Iterator[str]:
    """Every section and setting as the environment spells it, without the prefix."""
    for name, field in model.model_fields.items():
        yield name.upper()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from (f"{name.upper()}__{inner}" for inner in _names(field.annotation))
