"""Whether the port of an address is one. What stands there may be part of a password, so an error never shows it."""

from __future__ import annotations

import re
from typing import Any

from pydantic import SecretStr
from pydantic_core import PydanticCustomError

_ADDRESSES = {"url", "proxy", "otlp", "statsd", "heartbeat", "files", "hosts"}
"""The last word of each setting that is an address."""
_FILES = {"files", "lake_url"}
_OF_FILES = {"http", "https", "ftp", "sftp", "ssh", "hdfs", "webhdfs", "smb"}
"""The schemes of files in which what follows a colon is a port."""
_HOST = re.compile(r"(?:\[[^\]]*\]|[^:\[\]]*)(?::(?P<port>.*))?", re.DOTALL)
_PARAMETER = re.compile(r"[?&]port=([^&#]*)")


def check_port(name: str, value: Any) -> Any:
    """The value, if no port in it is impossible. PydanticCustomError otherwise."""
    if name.rpartition("_")[2] in _ADDRESSES:
        for one in value if isinstance(value, tuple) else (value,):
            text = one.get_secret_value() if isinstance(one, SecretStr) else one
            if isinstance(text, str) and not all(map(_possible, _ports(name, text))):
                raise PydanticCustomError("no_port", "its port is no whole number from 1 to 65535")
    return value


def _ports(name: str, text: str) -> list[str]:
    """What stands where an address has its ports; a server of PostgreSQL may have several."""
    scheme, mark, rest = text.rpartition("://") if "://" in text else ("", "", text)
    if name in _FILES and scheme.casefold() not in _OF_FILES:
        return []  # a folder, a bucket, an archive in another file
    hosts = re.split(r"[/?#]", rest.rpartition("@")[2])[0].split(",")
    found = [match["port"] for host in hosts if (match := _HOST.fullmatch(host)) and match["port"]]
    return found + (_PARAMETER.findall(rest) if mark else [])


def _possible(port: str) -> bool:
    return port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) <= 65535
