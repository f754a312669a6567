"""JSON values, read tolerantly: exact numbers, several spellings of one name, never an exception for an unexpected value.

`dumps` writes JSON with exact decimals, and `instant_text` the interface's three ways to write an instant.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from partner_api.errors import InvalidRequestError

Raw = Mapping[str, Any]
"""What the platform sent, as it came; fractions are Decimals."""

IDENTIFIER_CHARS_MAX = 255
"""Longer than any genuine job id."""
DIGITS_MAX = 100
"""The interface has no longer number; to read one costs quadratic time."""


def json_or_none(body: bytes) -> Any:
    """The body as JSON with exact decimals; None when it is none. NaN and Infinity become null."""
    try:
        return json.loads(
            body.decode("utf-8-sig"),
            parse_float=lambda text: decimal({"value": text}, "value"),
            parse_int=lambda text: int(text) if len(text) <= DIGITS_MAX else None,
            parse_constant=lambda _: None,
        )
    except (ValueError, RecursionError):
        return None


def mapping(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """The array, or an empty one."""
    return value if isinstance(value, list) else []


def mappings(value: Any) -> list[dict[str, Any]]:
    """The objects of an array; what is no object is passed over."""
    return [entry for entry in items(value) if isinstance(entry, dict)]


def first(raw: Raw, *names: str) -> Any:
    """The value under the first of these names that has one."""
    for name in names:
        value = raw.get(name)
        if value is not None:
            return value
    return None


def text(raw: Raw, *names: str) -> str | None:
    """Text, or a number as text; None when absent, empty or something else."""
    for name in names:
        value = raw.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            return str(value)
    return None


def identifier(raw: Raw, *names: str) -> str | None:
    """Text that can name something: at most 255 printable characters, so that an index of a database can hold it."""
    value = text(raw, *names)
    if value is None or len(value) > IDENTIFIER_CHARS_MAX or not value.isprintable() or value in {".", ".."}:
        return None
    return value


def texts(value: Any) -> tuple[str, ...]:
    """The texts of an array; a single text is an array of one."""
    return tuple(
        word for entry in (value if isinstance(value, list) else [value]) if (word := text({"value": entry}, "value"))
    )


def decimal(raw: Raw, *names: str) -> Decimal | None:
    """An exact, finite number from a number or its text."""
    value = text(raw, *names)
    if value is None or len(value) > DIGITS_MAX:
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= DIGITS_MAX else None


def integer(raw: Raw, *names: str) -> int | None:
    """A whole number from a number or its text."""
    number = decimal(raw, *names)
    return int(number) if number is not None and number == number.to_integral_value() else None


def boolean(raw: Raw, *names: str) -> bool | None:
    """true/false, 1/0, and their texts."""
    value = first(raw, *names)
    if isinstance(value, bool):
        return value
    return {"true": True, "1": True, "false": False, "0": False}.get(str(value).strip().lower())


def instant(raw: Raw, *names: str) -> dt.datetime | None:
    """An ISO 8601 date-time, aware, in UTC; one without a zone is UTC (interface.md 4.10)."""
    value = text(raw, *names)
    if value is None:
        return None
    try:
        parsed = dt.datetime.fromisoformat(value)
    except ValueError:
        return None
    try:
        return parsed.astimezone(dt.UTC) if parsed.tzinfo else parsed.replace(tzinfo=dt.UTC)
    except (OverflowError, ValueError):
        return None


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


def instant_text(value: dt.datetime, *, milliseconds: bool = False, suffix: str = "Z") -> str:
    """An aware date-time in UTC, as ISO 8601."""
    if value.tzinfo is None:
        raise InvalidRequestError(f"{value.isoformat()} has no time zone", remedy="Give an aware date-time")
    utc = value.astimezone(dt.UTC).replace(tzinfo=None)
    return utc.isoformat(timespec="milliseconds" if milliseconds else "seconds") + suffix


def present(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is None: an absent field changes nothing, a null might clear something."""
    return {name: value for name, value in fields.items() if value is not None}
