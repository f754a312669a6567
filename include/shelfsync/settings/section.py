"""What all sections share."""

from __future__ import annotations

import json
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, SecretStr, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from shelfsync.settings.port import check_port

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


class ServiceAddress(SecretStr):
    """The address of a messaging service. Host, path and parameters may each be a secret: only its scheme is shown."""


def _is_web(address: ServiceAddress) -> ServiceAddress:
    if not address.get_secret_value().startswith(("https://", "http://")):
        raise PydanticCustomError("no_web_address", "the address has to begin with https:// or http://", {})
    return address


WebAddress = Annotated[ServiceAddress, AfterValidator(_is_web)]
"""A service's address by HTTP."""


def section_of(kind: Any) -> type[BaseModel] | None:
    """The section that a setting of this type is, or holds any number of; None if it is a single value."""
    return next((one for one in (kind, *get_args(kind)) if isinstance(one, type) and issubclass(one, BaseModel)), None)


def items(value: Any) -> Any:
    """A comma-separated text, or a JSON list of texts as other settings take it, as a tuple of its items; anything else as it is."""
    if not isinstance(value, str):
        return value
    found = _listed(value) if value.lstrip().startswith("[") else value.split(",")
    return tuple(item.strip() for item in found if item.strip())


def _listed(text: str) -> list[str]:
    try:
        found: list[str] = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("begins with [ and is no JSON list; write the items with commas between them") from None
    if not all(isinstance(one, str) for one in found):
        raise ValueError("has an item that is no text; write each between quotes, or all with commas between them")
    return found


CENTURY = {"s": 36_525 * 86_400, "hours": 36_525 * 24, "days": 36_525, "months": 1_200}
"""A hundred years, by the unit at the end of a setting's name: no instant so far from now leaves a database's calendar."""


class Section(BaseModel):
    """A section: frozen; an unknown name is an error, and so are a time of more than a hundred years and an impossible port."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*")
    @classmethod
    def _with_a_port(cls, value: Any, info: ValidationInfo) -> Any:
        return check_port(str(info.field_name), value)

    @field_validator("*")
    @classmethod
    def _within_a_century(cls, value: Any, info: ValidationInfo) -> Any:
        most = CENTURY.get(str(info.field_name).rpartition("_")[2])
        if most is not None and isinstance(value, int | float) and not value <= most:
            raise PydanticCustomError(
                "longer_than_a_century", "should be at most {most}, a hundred years", {"most": most}
            )
        return value
