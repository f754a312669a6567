"""JSON bodies and query parameters, read strictly after the checks of the caller: 401 and 404 come before 400."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from partner_sandbox.errors import ApiError, invalid

Model = TypeVar("Model", bound=BaseModel)


async def read(request: Request, model: type[Model]) -> Model:
    """The body as a model; 400 that names the first field that is wrong."""
    text = await request.body()
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise validation_error(error) from None


def validation_error(error: ValidationError) -> ApiError:
    """400 for a validation error of pydantic's."""
    first: Any = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        return invalid("", "the body is not valid JSON")
    return invalid(dotted(first["loc"]), first["msg"].removeprefix("Value error, "))


def dotted(parts: tuple[Any, ...]) -> str:
    """`products[3].price` of a location."""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


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


def truth(name: str, text: str | None) -> bool | None:
    """True or false; None when the parameter is absent."""
    if text is None:
        return None
    if text not in _TRUTHS:
        raise invalid(name, "must be true or false")
    return _TRUTHS[text]
