"""The body of the order PUT (interface.md 4.8)."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from partner_sandbox.bodies import Body, InstantUs, Number, Uuid
from partner_sandbox.errors import ApiError

Status = Literal["ACCEPTED", "READY_FOR_PICKUP", "DISPATCHED", "UPDATE_CART", "CANCELLED"]
SentItemStatus = Literal["NOT_PROCESSED", "IN_CART", "NOT_FOUND", "REPLACED", "ADDITION"]
ITEMS_MAX = 1000
Text = Annotated[str, Field(max_length=1000)]


class SentPricing(Body):
    """What may be changed of an item's pricing; list price and bounds are the platform's and ignored."""

    pricing_type: Literal["UNIT", "KG"] | None = None
    quantity: Number | None = None
    weight: Number | None = None
    unit_price: Number | None = None
    total_price: Number | None = None


class SentItem(Body):
    """One element of `items`; `original_pricing` and `promotion` are read-only and ignored."""

    id: Uuid | None = Field(None, alias="_id")
    sku: Text | None = None
    status: SentItemStatus | None = None
    replaced_id: Annotated[Uuid | None, BeforeValidator(lambda value: value or None)] = None
    """Empty counts as absent: a client was seen to send it so (field notes)."""
    pricing: SentPricing | None = None

    @property
    def cancels(self) -> bool:
        """`_id` as the only identifier (interface.md 2.6, 4.8.7)."""
        return self.id is not None and not self.sku


class Cancellation(Body):
    """A partner's own (field notes, Orders)."""

    reason: Literal["CLOSED", "ITEM_UNAVAILABLE", "TOO_BUSY"]
    cancelled_by: Literal["VENDOR"] = "VENDOR"


class OrderUpdate(Body):
    order_id: Uuid
    status: Status
    accepted_for: InstantUs | None = None
    items: list[SentItem] = Field(default_factory=list, max_length=ITEMS_MAX)
    confirmed_amount: Number | None = None
    cancellation: Cancellation | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.status == "ACCEPTED" and self.accepted_for is None:
            raise ValueError("accepted_for is required with the status ACCEPTED")
        if self.status == "CANCELLED" and self.cancellation is None:
            raise ValueError("cancellation is required with the status CANCELLED")
        return self

    @property
    def cancels(self) -> bool:
        """Whether an item has `_id` and no `sku`, which cancels the order in any case."""
        return any(item.cancels for item in self.items)


class CartError(ApiError):
    """400: the requested change of an item is not possible."""

    def __init__(
        self, code: str, where: str, problem: str, *, rule: str | None = None, choice: str | None = None
    ) -> None:
        super().__init__(400, code, f"{where}: {problem}" if where else problem, rule=rule, choice=choice)


ITEM_NOT_FOUND = "ITEM_NOT_FOUND"
INVALID_CART_UPDATE = "INVALID_CART_UPDATE"
VALIDATION_ERROR = "VALIDATION_ERROR"
INVALID_STATUS = "INVALID_STATUS"
