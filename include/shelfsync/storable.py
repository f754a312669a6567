"""Text as PostgreSQL can hold it: a NUL and half of a surrogate pair become U+FFFD.

The endpoints reject such characters in identifiers. In any other text they are replaced, so that one text never stops the rows beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

REPLACEMENT = "\ufffd"


def text(value: str) -> str:
    """The same text if PostgreSQL can hold it; otherwise with U+FFFD for each character that it cannot hold."""
    return encodable(value.replace("\x00", REPLACEMENT))


def encodable(value: str) -> str:
    """The same text with U+FFFD for each half of a surrogate pair, which JSON can spell and UTF-8 cannot."""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_encodable(value: str) -> bool:
    """False if it has half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def json_text(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    """JSON for a parameter of a statement; `default` as in `json.dumps`."""
    written = json.dumps(value, default=default, ensure_ascii=False)
    if "\\u0000" in written or not is_encodable(written):
        written = json.dumps(storable(value), default=default, ensure_ascii=False)
    return written


def storable(value: Any) -> Any:
    """A value of JSON with storable texts and names; nothing else changes."""
    match value:
        case str():
            return text(value)
        case Mapping():
            return {text(name) if isinstance(name, str) else name: storable(part) for name, part in value.items()}
        case list() | tuple():
            return [storable(part) for part in value]
        case _:
            return value
