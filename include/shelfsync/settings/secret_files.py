"""Secrets of the environment that stand in files: `…_FILE` names the file, as an orchestrator mounts it."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, SecretStr
from pydantic_settings import EnvSettingsSource

from shelfsync.errors import ConfigurationError
from shelfsync.file_access import reject_shared

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SUFFIX = "_FILE"
_BYTES_MAX = 65_536


class Environment(EnvSettingsSource):
    """The environment, in which `…_FILE` gives a secret by its file. The variable without it has priority, and then no file is read."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        given = dict(super()._load_env_vars())
        for name in secret_names(self.settings_cls):
            variable = self.env_prefix + name
            path = given.pop(f"{variable}{SUFFIX}".lower(), None)
            if path is not None and variable.lower() not in given:
                given[variable.lower()] = secret_in(path, f"{variable}{SUFFIX}")
        return given


def secret_names(model: type[BaseModel]) -> Iterator[str]:
    """Every secret as the environment spells it, without the prefix. Those of a list or a mapping have no variable each, and so no file."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from (f"{name.upper()}__{inner}" for inner in secret_names(field.annotation))
        elif SecretStr.__name__ in str(field.annotation):
            yield name.upper()


def secret_in(path: str, variable: str) -> str:
    """The text of the file without one newline at its end. A ConfigurationError names the variable, never the text."""
    file = Path(path)
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ConfigurationError(variable, f"{path!r} is no file", "Name a file that holds the secret alone.")
        reject_shared(file, variable)
        if status.st_mode & stat.S_IROTH:
            raise ConfigurationError(
                variable,
                f"every user of this machine can read {path!r}",
                f"Run `chmod o-r {path}`, or mount it with the mode 0440.",
            )
        with file.open("rb") as opened:
            content = opened.read(_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "its name is none of a file"
        raise ConfigurationError(
            variable, f"{path!r} cannot be read: {why}", "Name a file that the user of this process can read."
        ) from None
    if len(content) > _BYTES_MAX:
        raise ConfigurationError(
            variable, f"{path!r} has more than {_BYTES_MAX} bytes", "Name a file that holds the secret alone."
        )
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigurationError(variable, f"{path!r} is no UTF-8 text", "Write the secret as text.") from None
    text = text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text
    if not text:
        raise ConfigurationError(variable, f"{path!r} is empty", "Write the secret into it, or unset the variable.")
    return text


def file_variables(model: type[BaseModel]) -> set[str]:
    """Every variable that may name a file, without the prefix."""
    return {f"{name}{SUFFIX}" for name in secret_names(model)}
