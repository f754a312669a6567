"""Reads the settings of this process, and says in one line which is wrong."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from shelfsync.access import refuse_shared
from shelfsync.errors import ConfigurationError
from shelfsync.settings.settings import FILE, Settings, config_file

log = logging.getLogger(__name__)


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
    try:
        return Settings(**overrides)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = "SHELFSYNC_" + "__".join(str(part).upper() for part in first["loc"])
        remedy = f"Correct it in the environment or in {file}."
        raise ConfigurationError(name, first["msg"], remedy) from None
    except ValueError as error:  # a TOML file that does not parse
        raise ConfigurationError(
            "SHELFSYNC_CONFIG", f"{file} cannot be read: {error}", "Correct the file's syntax."
        ) from None
