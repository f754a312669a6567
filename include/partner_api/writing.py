"""JSON with exact decimals, and the interface's three ways to write an instant."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from partner_api.errors import InvalidRequestError


def dumps(value: Any) -> bytes:
    """UTF-8 JSON. A Decimal is written as it is; InvalidRequestError for a float, whose intended decimal is unknown (I11)."""
    try:
        return _text(value).encode()
    except (UnicodeEncodeError, RecursionError):
        raise InvalidRequestError("the body holds text that is no Unicode, or is nested without end") from None


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return (
            "{"
            + ",".join(f"{json.dumps(str(name), ensure_ascii=False)}:{_text(part)}" for name, part in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ",".join(_text(part) for part in value) + "]"
    if value is None or isinstance(value, bool | str | int):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Decimal) and value.is_finite():
        return format(value, "f")
    raise InvalidRequestError(f"{value!r} cannot be sent as JSON", remedy="Write numbers as Decimal or int, finite")


def instant(value: dt.datetime, *, milliseconds: bool = False, suffix: str = "Z") -> str:
    """An aware date-time in UTC, as ISO 8601."""
    if value.tzinfo is None:
        raise InvalidRequestError(f"{value.isoformat()} has no time zone", remedy="Give an aware date-time")
    utc = value.astimezone(dt.UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="milliseconds" if milliseconds else "seconds") + suffix


def present(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is None: an absent field changes nothing, a null might clear something."""
    return {name: value for name, value in fields.items() if value is not None}
