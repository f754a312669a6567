"""JSON bodies and query parameters, read strictly: a number is no text, an instant has its form.

They are read after the checks of the caller: 401 and 404 come before 400.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from typing import Annotated, Any, TypeVar

from fastapi import Request
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from partner_sandbox.errors import ApiError, invalid, validation_error

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
EVERY_VENDOR = "*"
LOCALE = re.compile(r"[a-z]{2}_[A-Z]{2}")
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|\+00:00)", re.ASCII)
_MILLISECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|\+00:00)", re.ASCII)
_WITHOUT_ZONE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?", re.ASCII)


class Body(BaseModel):
    """Unknown names are ignored, as live; types are not bent."""

    model_config = ConfigDict(strict=True, frozen=True)


class Known(BaseModel):
    """A body of the control plane: a name that it does not know is rejected, with the known names."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, values: Any) -> Any:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        unknown = [name for name in values if name not in known] if isinstance(values, dict) else []
        if unknown:
            raise PydanticCustomError("unknown_field", "not a known field", {"field": unknown[0], "known": known})
        return values


class StrictKnown(Known):
    """The same, and types are not bent."""

    model_config = ConfigDict(strict=True, frozen=True)


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError("must be a number")  # noqa: TRY004  pydantic wants a ValueError
    return Decimal(str(value))


def _locale(value: str) -> str:
    if LOCALE.fullmatch(value) is None:
        raise ValueError("must be a locale of the form xx_YY")
    return value


def _uuid(value: str) -> str:
    if UUID.fullmatch(value) is None:
        raise ValueError("must be a UUID")
    return value.lower()


def _instant_us(value: Any) -> int:
    return _read(value, _INSTANT, "must be an ISO 8601 date-time in UTC, such as 2026-01-31T12:00:00Z")


def _millisecond_us(value: Any, info: ValidationInfo) -> int:
    if (info.context or {}).get("promotion_times"):
        return _instant_us(value)
    try:
        return _read(value, _MILLISECONDS, "")
    except ValueError:
        problem = "must be an ISO 8601 UTC date-time with milliseconds (2026-01-31T12:00:00.000Z)"
        raise PydanticCustomError("milliseconds", problem, {"choice": "promotion_times"}) from None


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
"""Finite, not negative; of a fraction the shortest text that reads as the same float."""
Locale = Annotated[str, AfterValidator(_locale)]
"""Of the form xx_YY."""
Uuid = Annotated[str, AfterValidator(_uuid)]
"""In lower case."""
InstantUs = Annotated[int, BeforeValidator(_instant_us), WithJsonSchema({"type": "string", "format": "date-time"})]
"""ISO 8601 in UTC outside, microseconds inside."""
MillisecondsUs = Annotated[int, BeforeValidator(_millisecond_us)]
"""The same with exactly three decimals, or any where the dialect accepts them."""

Model = TypeVar("Model", bound=BaseModel)


async def read_body(request: Request, model: type[Model]) -> Model:
    """The body as a model; 400 that names the first field that is wrong."""
    return parse(await request.body(), model)


async def limited(request: Request, most: int, what: str) -> bytes:
    """The body; 413 once it has more than `most` bytes."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise ApiError(413, "PAYLOAD_TOO_LARGE", f"A {what} has at most {most} bytes")
    return body


def parse(text: bytes, model: type[Model], context: dict[str, Any] | None = None) -> Model:
    """The same of a body that is here."""
    try:
        return model.model_validate_json(text, context=context)
    except ValidationError as error:
        raise validation_error(error.errors(include_url=False)) from None


_DIGITS = re.compile(r"[0-9]{1,9}")
_TRUTHS = {"true": True, "false": False}


def whole(name: str, text: str | None, default: int, *, least: int = 1, most: int | None = None) -> int:
    """A whole number within its bounds; `default` when the parameter is absent."""
    if text is None:
        return default
    if _DIGITS.fullmatch(text) is None:
        raise invalid(name, "must be a whole number")
    number = int(text)
    if number < least or (most is not None and number > most):
        raise invalid(name, f"must be at least {least}" if number < least else f"must be at most {most}")
    return number


def order_id(text: str) -> str:
    """The identifier of an order in a path, in lower case; 400 for one that is no UUID."""
    if UUID.fullmatch(text) is None:
        raise invalid("order_id", "must be a UUID")
    return text.lower()


def truth(name: str, text: str | None) -> bool | None:
    """True or false; None when the parameter is absent."""
    if text is None:
        return None
    if text not in _TRUTHS:
        raise invalid(name, "must be true or false")
    return _TRUTHS[text]
