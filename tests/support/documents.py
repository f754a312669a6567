"""The JSON documents of the command line, as a script reads them."""

from __future__ import annotations

import json
from typing import Any


def data(printed: str) -> Any:
    """What a command answered with `--json`."""
    document = json.loads(printed)
    assert (document.keys(), document["schema"]) == ({"schema", "data"}, 1), printed
    return document["data"]


def error(printed: str) -> dict[str, str]:
    """Why a command failed, as it reports with `--json`: `code`, `message`, `remedy`, `page`."""
    document = json.loads(printed)
    assert (document.keys(), document["schema"]) == ({"schema", "error"}, 1), printed
    assert document["error"].keys() == {"code", "message", "remedy", "page"}, printed
    return dict(document["error"])
