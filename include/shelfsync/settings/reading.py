"""Reads the settings of this process, and says in one line which is wrong."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from shelfsync.errors import ConfigurationError
from shelfsync.settings.settings import Settings


def read_settings(**overrides: Any) -> Settings:
    """The settings of this process; a ConfigurationError names the first that is wrong, and how it is spelled in the environment."""
    named = os.environ.get("SHELFSYNC_CONFIG")
    if named and not Path(named).is_file():
        raise ConfigurationError(
            "SHELFSYNC_CONFIG", f"there is no file {named!r}", "Name an existing TOML file or unset it."
        )
    try:
        return Settings(**overrides)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = "SHELFSYNC_" + "__".join(str(part).upper() for part in first["loc"])
        remedy = "Correct it in the environment or in the file that SHELFSYNC_CONFIG names."
        raise ConfigurationError(name, first["msg"], remedy) from None
    except ValueError as error:  # a TOML file that does not parse
        raise ConfigurationError(
            "SHELFSYNC_CONFIG", f"{named or 'shelfsync.toml'} cannot be read: {error}", "Correct the file's syntax."
        ) from None
