"""How raw values become canonical ones."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shelfsync.settings.section import Section


class NormaliseSettings(Section):
    """How raw values become canonical ones."""

    quantity_rounding: Literal["floor", "refuse"] = "floor"
    """What happens to 3.4 pieces: `floor` promises only what is there; `refuse` quarantines the row."""
    negative_quantity: Literal["zero", "refuse"] = "zero"
    """A negative stock is a booking that came late: nothing is there to sell."""
    sku_length_max: int = Field(255, ge=1)
