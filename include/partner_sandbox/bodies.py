"""JSON bodies of ordinary size, read after the caller is known: 401 and 404 come before 400."""

from __future__ import annotations

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
        raise refusal(error) from None


def refusal(error: ValidationError) -> ApiError:
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
