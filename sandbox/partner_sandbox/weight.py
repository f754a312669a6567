"""What is sold by weight (field notes, Product creation)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from partner_sandbox.bodies import Body


class Weight(Body):
    """The units and amounts in which a product is weighed."""

    base_weight: float = Field(gt=0, allow_inf_nan=False)
    base_weight_unit: Literal["KG", "G"]
    average_weight_per_piece: float | None = Field(None, gt=0, allow_inf_nan=False)
    minimum_starting_weight: float | None = Field(None, gt=0, allow_inf_nan=False)
