"""Where the settings file is. Light: every parse of a DAG file asks."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from shelfsync.errors import ConfigurationError
from shelfsync.file_access import reject_shared

_SOURCES = Path(__file__).resolve().parents[2]
_IN_PLACE = (_SOURCES / "pyproject.toml").is_file()
PROJECT = _SOURCES if _IN_PLACE else Path(__file__).resolve().parent / "deployed"
"""The folder of dags/ and plugins/: the project, on a machine as in the image, or what a wheel brings of it (scripts/release.py)."""


def _default_home() -> Path:
    """`.shelfsync` of the project, from whatever folder a command is started; without a project, a folder of the user."""
    if _IN_PLACE:
        return PROJECT / ".shelfsync"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "shelfsync"


def local_command(name: str) -> str:
    """`make up` in the project; `shelfsync up` where a wheel is installed, which brings no Makefile."""
    return f"{'make' if _IN_PLACE else 'shelfsync'} {name}"


HOME = _default_home()
FILE = "shelfsync.toml"


def config_file() -> Path:
    """The file that SHELFSYNC_CONFIG names, or the one in the state folder. Never one of the current folder, which any user may have written."""
    named = os.environ.get("SHELFSYNC_CONFIG")
    return Path(named) if named else Path(os.environ.get("SHELFSYNC_HOME") or HOME) / FILE


def read_file() -> dict[str, Any]:
    """What the file says; {} if there is none. A ConfigurationError if it is not usable: not there, shared, no TOML."""
    file, named = config_file(), os.environ.get("SHELFSYNC_CONFIG")
    try:
        if not file.is_file():
            if named:
                raise ConfigurationError(
                    "SHELFSYNC_CONFIG", f"there is no file {named!r}", "Name an existing TOML file or unset it."
                )
            return {}
        reject_shared(file, "SHELFSYNC_CONFIG" if named else "SHELFSYNC_HOME")
        with file.open("rb") as given:
            return tomllib.load(given)
    except OSError as error:
        raise ConfigurationError(
            "SHELFSYNC_CONFIG",
            f"{error.filename} cannot be read: {error.strerror}",
            "Let the user of this process read it.",
        ) from None
    except ValueError as error:
        raise ConfigurationError(
            "SHELFSYNC_CONFIG", f"{file} cannot be read: {error}", "Correct the file's syntax."
        ) from None
