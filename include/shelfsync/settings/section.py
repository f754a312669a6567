"""What all sections share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, SecretStr
from pydantic_core import PydanticCustomError

SECRET_LENGTH_MIN = 16


def _long_enough(value: SecretStr) -> SecretStr:
    """A secret of at least 16 characters, or an empty one, which counts as unset."""
    if 0 < len(value.get_secret_value().strip()) < SECRET_LENGTH_MIN:
        raise PydanticCustomError(
            "short_secret",
            "is shorter than {least} characters, so it can be guessed; choose a random one",
            {"least": SECRET_LENGTH_MIN},
        )
    return value


SharedSecret = Annotated[SecretStr, AfterValidator(_long_enough)]
"""A secret that the operator chooses. A caller sends it or signs with it."""


def items(value: Any) -> Any:
    """A comma-separated text as a tuple of its items; anything else as it is."""
    if isinstance(value, str):
        return tuple(item.strip() for item in value.split(",") if item.strip())
    return value


class Section(BaseModel):
    """A section: frozen; an unknown name is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
