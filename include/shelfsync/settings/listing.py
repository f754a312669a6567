"""Every setting as a person may see it: its value, where it comes from, and no secret."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr
from pydantic_settings import EnvSettingsSource, TomlConfigSettingsSource

from shelfsync.settings.reading import read_settings
from shelfsync.settings.settings import Settings, config_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MASK = "***"
CONNECTIONS = {
    "database_url": "shelfsync_database",
    "platform.base_url": "shelfsync_platform",
    "platform.chain": "shelfsync_platform",
    "platform.client_id": "shelfsync_platform",
    "platform.client_secret": "shelfsync_platform",
    "platform.token": "shelfsync_platform",
    "erp.url": "shelfsync_erp",
    "webhook.secret": "shelfsync_webhook",
}
"""Setting -> the connection of Airflow that gives it to Airflow's tasks, where environment and file leave it unset."""

_PASSWORD = re.compile(r"(\w+://[^\s/@:]*):\S*@")
_PARAMETER = re.compile(
    r"([?&;][^=&;\s]*(?:secret|password|passwd|token|key|sig|credential)[^=&;\s]*)=[^&;\s]*", re.IGNORECASE
)


def shown_settings() -> list[dict[str, Any]]:
    """`{"name", "variable", "value", "source", "connection"}` of every setting; `source` is default, file or environment."""
    settings = read_settings()
    given = {
        "environment": EnvSettingsSource(Settings)(),
        f"file {config_file()}": TomlConfigSettingsSource(Settings, toml_file=config_file())(),
    }
    return [
        {
            "name": ".".join(path),
            "variable": "SHELFSYNC_" + "__".join(part.upper() for part in path),
            "value": masked(value),
            "source": _source(given, path, value),
            "connection": CONNECTIONS.get(".".join(path)),
        }
        for path, value in _leaves(settings)
    ]


def masked(value: Any) -> Any:
    """The value without secrets: those that are declared as such, passwords inside addresses, and parameters named like a secret."""
    if isinstance(value, SecretStr):
        return _secret(value.get_secret_value())
    if isinstance(value, BaseModel):
        return {name: masked(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, dict):
        return {name: masked(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [masked(one) for one in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return _PARAMETER.sub(rf"\1={MASK}", _PASSWORD.sub(rf"\1:{MASK}@", str(value)))


def _secret(text: str) -> str:
    """Of an address scheme, user, host, port and database; of anything else nothing. The path of a web address may be a secret in itself."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return MASK
    if not host or "://" not in text:
        return MASK
    web = parts.scheme.startswith("http")
    user = "" if parts.username is None else f"{MASK if web else parts.username}:{MASK}@"
    path = f"/{MASK}" if web and parts.path.strip("/") else parts.path
    where = f"{host}:{port}" if port else host
    return f"{parts.scheme}://{user}{where}{path}" + (f"?{MASK}" if parts.query else "")


def _leaves(section: BaseModel, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            yield from _leaves(value, (*path, name))
        else:
            yield (*path, name), value


def _source(given: Mapping[str, Mapping[str, Any]], path: tuple[str, ...], value: object) -> str:
    """The first source that gives it; of a mapping, whose entries come from all of them, every one."""
    found = [source for source, values in given.items() if _has(values, path)]
    return " and ".join(found if isinstance(value, dict) else found[:1]) or "default"


def _has(values: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    found: Any = values
    for part in path:
        if not isinstance(found, dict) or part not in found:
            return False
        found = found[part]
    return True
