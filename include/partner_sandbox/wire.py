"""Values as bodies carry them, for models that read JSON strictly: a number is no text, an instant has its form."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)", re.ASCII)
_MILLISECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|\+00:00)", re.ASCII)
_WITHOUT_ZONE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?", re.ASCII)


class Body(BaseModel):
    """Unknown names are ignored, as live; types are not bent."""

    model_config = ConfigDict(strict=True, frozen=True)


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError("must be a number")  # noqa: TRY004  pydantic wants a ValueError
    return Decimal(str(value))


def _uuid(value: str) -> str:
    if UUID.fullmatch(value) is None:
        raise ValueError("must be a UUID")
    return value.lower()


def _instant_us(value: Any) -> int:
    return _read(value, _INSTANT, "must be an ISO 8601 date-time in UTC, such as 2026-01-31T12:00:00Z")


def _millisecond_us(value: Any) -> int:
    return _read(value, _MILLISECONDS, "must be an ISO 8601 UTC date-time with milliseconds (2026-01-31T12:00:00.000Z)")


def history_instant_us(value: str, *, suffix_allowed: bool) -> int:
    """A date-time in UTC without a zone suffix (interface.md 4.10), with one where that is allowed; ValueError otherwise."""
    if suffix_allowed and _INSTANT.fullmatch(value):
        return _instant_us(value)
    return _read(value, _WITHOUT_ZONE, "must be a date-time in UTC without a zone suffix (2026-01-31T12:00:00)")


def _read(value: Any, form: re.Pattern[str], otherwise: str) -> int:
    if not isinstance(value, str) or form.fullmatch(value) is None:
        raise ValueError(otherwise)
    try:
        moment = dt.datetime.fromisoformat(value).replace(tzinfo=dt.UTC)
    except ValueError:
        raise ValueError(otherwise) from None
    return (moment - EPOCH) // dt.timedelta(microseconds=1)


Number = Annotated[Decimal, BeforeValidator(_number), Field(ge=0, lt=10**12, allow_inf_nan=False)]
"""Finite, not negative, exact as written."""
Uuid = Annotated[str, AfterValidator(_uuid)]
"""In lower case."""
InstantUs = Annotated[int, BeforeValidator(_instant_us)]
"""ISO 8601 in UTC outside, microseconds inside."""
MillisecondsUs = Annotated[int, BeforeValidator(_millisecond_us)]
"""The same with exactly three decimals."""
