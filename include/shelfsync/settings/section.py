"""What all sections share."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


def words(value: Any) -> Any:
    """A comma-separated text as the words in it; anything else as it is."""
    if isinstance(value, str):
        return tuple(word.strip() for word in value.split(",") if word.strip())
    return value


class Section(BaseModel):
    """A section: frozen, and a name that is not known is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
