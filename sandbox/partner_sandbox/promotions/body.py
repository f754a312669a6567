"""The body of the promotion PUT (interface.md 2.4, 4.7; field notes, Promotions)."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from partner_sandbox import money
from partner_sandbox.bodies import EVERY_VENDOR, Body, Locale, MillisecondsUs, Number
from partner_sandbox.errors import invalid
from partner_sandbox.settings import Behaviour

PAIRS_MAX = 2_000_000
"""SKU x vendor in one request (field notes)."""


Named = Annotated[str, Field(min_length=1, max_length=1000)]
Count = Annotated[int, Field(ge=1, lt=2**31)]


class Conditions(Body):
    """The window, and for a bundle how many are bought and how many of them are cheaper."""

    start_time: MillisecondsUs
    end_time: MillisecondsUs
    purchased_quantity: Count | None = None
    discounted_quantity: Count | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.start_time >= self.end_time:
            raise ValueError("end_time must be after start_time")
        return self


class Discount(Body):
    """One group of SKUs; active=false takes them out of the running promotion."""

    discount_subtype: Literal["FINAL_PRICE", "PERCENTAGE", "ABSOLUTE"] | None = None
    discount_value: Number | None = None
    active: bool = True
    sku: list[Named] = Field(min_length=1)
    max_quantity: Count | None = None

    @model_validator(mode="after")
    def _a_percentage(self) -> Self:
        if self.discount_subtype == "PERCENTAGE" and not 1 <= (self.discount_value or 0) <= 100:
            raise ValueError("a PERCENTAGE is from 1 to 100")
        return self

    @property
    def value_milli(self) -> int:
        """Thousandths of a price, or of a per cent."""
        return money.cut(self.discount_value or 0)


class Limits(Body):
    max_discount_per_order: Number | None = None
    max_items_per_order: Count | None = None


class PromotionBody(Body):
    """Create, modify and deactivate have this one shape."""

    vendors: list[Named] = Field(min_length=1)
    type: Literal["STRIKETHROUGH", "SAME_ITEM_BUNDLE"]
    active: bool
    reason: Literal["COMPETITIVENESS", "OVERSTOCK", "DELISTING", "EXPIRING_SOON", "NMR", "TRADING"] | None = None
    display_name: Annotated[dict[Locale, Named], Field(min_length=1)] | None = None
    conditions: Conditions
    discount: list[Discount] = Field(min_length=1)
    limits: Limits | None = None

    @model_validator(mode="after")
    def _a_bundle(self) -> Self:
        counts = (self.conditions.purchased_quantity, self.conditions.discounted_quantity)
        if self.type == "SAME_ITEM_BUNDLE" and None in counts:
            raise ValueError(
                "a SAME_ITEM_BUNDLE needs conditions.purchased_quantity and conditions.discounted_quantity"
            )
        return self

    @property
    def identity(self) -> str:
        """Display name, vendors, start and end: changing one of them creates another promotion (field notes)."""
        parts = [
            self.display_name or {},
            sorted(set(self.vendors)),
            self.conditions.start_time,
            self.conditions.end_time,
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def check(body: PromotionBody, behaviour: Behaviour, vendors_of_chain: int) -> None:
    """400 for values that the dialect does not have or needs, and for more pairs than a request may have."""
    _check_complete(body, behaviour)
    if behaviour.promotion_values == "interface":
        allowed = {"type": "STRIKETHROUGH", "reason": "COMPETITIVENESS"}
        for name, value in allowed.items():
            if getattr(body, name) not in {None, value}:
                raise invalid(name, f"must be {value}", rule="2.4", choice="promotion_values")
        for number, entry in enumerate(body.discount):
            if entry.discount_subtype not in {None, "FINAL_PRICE"}:
                where = f"discount[{number}].discount_subtype"
                raise invalid(where, "must be FINAL_PRICE", rule="2.4", choice="promotion_values")
    vendors = vendors_of_chain if EVERY_VENDOR in body.vendors else len(set(body.vendors))
    pairs = vendors * sum(len(entry.sku) for entry in body.discount)
    if pairs > PAIRS_MAX:
        raise invalid("discount", f"{pairs} pairs of SKU and vendor are more than the {PAIRS_MAX} of one request")


def _check_complete(body: PromotionBody, behaviour: Behaviour) -> None:
    """An entry that discounts has subtype and value in every dialect; what else may be missing is a choice."""
    for number, entry in enumerate(body.discount):
        for name in ("discount_subtype", "discount_value"):
            if getattr(entry, name) is None:
                _reject_left_out(behaviour, f"discount[{number}].{name}", always=body.active and entry.active)
    for name in ("reason", "display_name"):
        if getattr(body, name) is None:
            _reject_left_out(behaviour, name)


def _reject_left_out(behaviour: Behaviour, name: str, *, always: bool = False) -> None:
    if always or behaviour.promotion_left_out == "rejected":
        raise invalid(name, "is required", rule="2.4", choice=None if always else "promotion_left_out")
