"""What all sections share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, SecretStr
from pydantic_core import PydanticCustomError

SECRET_LENGTH_MIN = 16


def _long_enough(value: SecretStr) -> SecretStr:
    """An empty text is no secret at all: whoever needs one says so."""
    if 0 < len(value.get_secret_value().strip()) < SECRET_LENGTH_MIN:
        raise PydanticCustomError(
            "short_secret",
            "is shorter than {least} characters, so it can be guessed; choose a random one",
            {"least": SECRET_LENGTH_MIN},
        )
    return value


SharedSecret = Annotated[SecretStr, AfterValidator(_long_enough)]
"""A secret that a caller shows or signs with, chosen by the operator."""


def words(value: Any) -> Any:
    """A comma-separated text as the words in it; anything else as it is."""
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    return value


class Section(BaseModel):
    """A section: frozen, and a name that is not known is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
