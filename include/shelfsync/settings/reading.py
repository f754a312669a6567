"""Reads the settings of this process, and lists them for a person with their sources and without secrets.

An error names in one line the setting that is wrong.
"""

from __future__ import annotations

import json
import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr, ValidationError

from shelfsync.chain_names_in_text import own_names
from shelfsync.chains import names_in, sections_of
from shelfsync.chosen_chain import chain_in_use
from shelfsync.errors import ConfigurationError
from shelfsync.required_chain import require_chain
from shelfsync.secret_mask import MASK, in_address, in_service, mask
from shelfsync.settings.chain_database import with_own_database
from shelfsync.settings.misspelt_names import reject_slips, reject_unknown, unknown
from shelfsync.settings.precedence import PREFIX, given_by, setting_of, variables, where_given
from shelfsync.settings.section import ServiceAddress, section_of
from shelfsync.settings.settings import Settings
from shelfsync.settings_file import FILE, config_file, read_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

log = logging.getLogger(__name__)

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

_OF_LIBRARIES = (
    *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_CONNECTION_STRING"),
    *("AZURE_STORAGE_SAS_TOKEN", "AZURE_CLIENT_SECRET", "PGPASSWORD", "MYSQL_PWD"),
)
"""Variables from which the libraries of storages and databases take a secret."""
_PASSWORD = re.compile(r"(\w+://[^\s/@:]*):\S*@")
_PARAMETER = re.compile(
    r"([?&;][^=&;\s]*(?:secret|password|passwd|token|key|sig|credential)[^=&;\s]*)=[^&;\s]*", re.IGNORECASE
)


def read_settings(**overrides: Any) -> Settings:
    """The settings of the chain in use (`chains.choose`), or those that all chains share.

    A ConfigurationError names the first that is wrong, and how it is spelled in the environment.
    """
    sections, file = sections_of(read_file()), config_file()
    names = names_in(sections)
    named = os.environ.get("SHELFSYNC_CONFIG")
    if not named and Path(FILE).is_file() and Path(FILE).resolve() != file.resolve():
        log.warning("./%s is not read; name it by SHELFSYNC_CONFIG, or move it to %s", FILE, file.absolute())
    reject_slips(sections, names)
    reject_unknown(file)
    mask.add(os.environ[name] for name in _OF_LIBRARIES if name in os.environ)
    try:
        chain = chain_in_use()
        if chain is not None:
            require_chain(chain, names)
        settings = with_own_database(Settings(**{"chain": chain, **overrides}), overrides)
        mask.add(secrets(Settings, settings))
        return settings
    except ValidationError as error:
        for given in (overrides, *(source() for source in given_by(Settings).sources.values())):
            mask.add(secrets(Settings, given))
        first = error.errors(include_input=False, include_url=False)[0]
        name = PREFIX + "__".join(str(part).upper() for part in first["loc"])
        if first["type"] == "extra_forbidden":
            raise unknown(name, file) from None
        raise ConfigurationError(name, first["msg"], f"Correct it in {where_given(name, file)}.") from None
    except ValueError as error:  # a mapping of the environment or a TOML file that does not parse
        if found := _no_json():
            name, why, example = found
            remedy = f"Write it as JSON in single quotes: '{example}'."
            raise ConfigurationError(name, f"its value is no JSON: {why}", remedy) from None
        raise ConfigurationError("the settings", f"they cannot be read: {error}", "Correct the environment.") from None


def _no_json() -> tuple[str, str, str] | None:
    """The first variable of mappings or sections whose value is no JSON, why, and an example; the value itself may be a secret."""
    values = {name.upper(): value for name, value in os.environ.items()}
    for name in variables():
        model: Any = Settings
        for part in setting_of(name).lower().split("__"):
            model = model.model_fields[part].annotation if part in getattr(model, "model_fields", {}) else None
        if example := _example(model):
            try:
                json.loads(values[name])
            except ValueError as error:
                return name, str(error), example
    return None


def _example(kind: Any) -> str | None:
    """How the environment has a value of this type that it must have as JSON."""
    section = section_of(kind)
    if section is None:
        return '{"sku": "item_code"}' if get_origin(kind) is dict else None
    fields = f'{{"{next(iter(section.model_fields))}": …}}'
    return f"[{fields}]" if get_origin(kind) is tuple else fields


def shown_settings() -> list[dict[str, Any]]:
    """`{"name", "variable", "value", "source", "connection"}` of every setting; `source` is default, file or environment."""
    settings = read_settings()
    given = {name: source() for name, source in given_by(Settings).sources.items()}
    return [
        {
            "name": ".".join(path),
            "variable": own_names("SHELFSYNC_" + "__".join(part.upper() for part in path), settings.chain),
            "value": masked(value),
            "source": _source(given, path, value),
            "connection": own_names(CONNECTIONS.get(".".join(path), ""), settings.chain) or None,
        }
        for path, value in _leaves(settings)
    ]


_FOLDER = re.compile(r"\.{0,2}/[^:@=?;]*")
"""In place of an address. Its parts stand in many messages, and must not be masked there."""


def secrets(model: type[BaseModel], given: Any) -> Iterator[str]:
    """Every secret in settings, or in what a source gives for them: the declared ones, and those inside addresses and drivers' strings."""
    if not isinstance(given, (dict, BaseModel)):  # a section that is written as a text, or not at all
        for text in _texts(given):
            yield from in_address(text, declared=False)
        return
    for name, field in model.model_fields.items():
        kind, value = field.annotation, given.get(name) if isinstance(given, dict) else getattr(given, name, None)
        text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
        if section := section_of(kind):
            for one in value if isinstance(value, (list, tuple)) else [value]:
                yield from secrets(section, one)
        elif value is not None and ServiceAddress.__name__ in str(kind):
            yield from in_service(text)
        elif value is not None and SecretStr.__name__ in str(kind):
            if not name.endswith(("url", "proxy")) or not ("://" in text or _FOLDER.fullmatch(text)):
                yield text
            yield from in_address(text, declared=True)
        else:
            for text in _texts(value):
                yield from in_address(text, declared=False)


def _texts(value: Any) -> Iterator[str]:
    """Every text in the value of a setting."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from _texts(one)


def masked(value: Any) -> Any:
    """The value without secrets: those that are declared as such, passwords inside addresses, and parameters named like a secret."""
    if isinstance(value, SecretStr):
        text = value.get_secret_value()
        return _scheme(text) if isinstance(value, ServiceAddress) else _secret(text)
    if isinstance(value, BaseModel):
        return {name: masked(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, dict):
        return {name: masked(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [masked(one) for one in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return _PARAMETER.sub(rf"\1={MASK}", _PASSWORD.sub(rf"\1:{MASK}@", str(value)))


def _scheme(text: str) -> str:
    """The scheme of an address; a text without one is no address, and may be the secret alone."""
    scheme, found, _ = text.partition("://")
    return f"{scheme}://{MASK}" if found else MASK


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
