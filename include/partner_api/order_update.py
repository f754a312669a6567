"""The body of an order update (interface.md 4.8), with the rules that the request alone can break.

A body that makes the platform cancel the order cannot be built here (I18), above all an item without its SKU.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from partner_api.errors import InvalidRequestError
from partner_api.json_values import instant_text, present

if TYPE_CHECKING:
    import datetime as dt

ItemState = Literal["IN_CART", "NOT_FOUND", "REPLACED", "ADDITION"]
OrderState = Literal["ACCEPTED", "READY_FOR_PICKUP", "DISPATCHED", "UPDATE_CART", "CANCELLED"]
CancelReason = Literal["CLOSED", "ITEM_UNAVAILABLE", "TOO_BUSY"]


def _require(what: str, rules: dict[str, bool]) -> None:
    """Raises InvalidRequestError for the first rule that is broken. Nothing has been sent."""
    for rule, broken in rules.items():
        if broken:
            raise InvalidRequestError(f"{what}: {rule}", operation="put_order", remedy="Nothing was sent; correct it")


@dataclass(frozen=True, slots=True)
class ItemUpdate:
    """One item of an order PUT. `item_id` is the platform's `_id`; `quantity` is for `UNIT`, `weight` (kg) alone for `KG`.

    `unit_price` or `total_price`, not both. A replacing item carries `replaced_id`, the `_id` of the item it replaces.
    """

    sku: str
    status: ItemState
    item_id: str | None = None
    quantity: Decimal | int | None = None
    unit_price: Decimal | None = None
    total_price: Decimal | None = None
    weight: Decimal | None = None
    pricing_type: Literal["UNIT", "KG"] | None = None
    replaced_id: str | None = None

    def __post_init__(self) -> None:
        prices = (self.unit_price, self.total_price)
        numbers = [number for number in (self.quantity, self.weight, *prices) if number is not None]
        rules = {
            "an item without its SKU cancels the order": not isinstance(self.sku, str) or not self.sku.strip(),
            "a replaced item needs its _id": self.status == "REPLACED" and not self.item_id,
            "an addition needs a quantity": self.status == "ADDITION" and self.quantity is None,
            "a replacing item needs a quantity": self.replaced_id is not None and self.quantity is None,
            "a replacing item is IN_CART": self.replaced_id is not None and self.status != "IN_CART",
            "unit price and total price cannot both be changed": None not in prices,
            "the price of a weighed item follows its weight": self.pricing_type == "KG" and prices != (None, None),
            "a number is negative or not finite": any(
                not Decimal(number).is_finite() or number < 0 for number in numbers
            ),
        }
        _require(f"item {self.sku!r}", rules)

    def wire(self) -> dict[str, Any]:
        """As the platform reads it."""
        pricing = present(
            {
                "pricing_type": self.pricing_type,
                "quantity": self.quantity,
                "unit_price": self.unit_price,
                "total_price": self.total_price,
                "weight": self.weight,
            }
        )
        return present(
            {
                "_id": self.item_id,
                "sku": self.sku,
                "status": self.status,
                "pricing": pricing or None,
                "replaced_id": self.replaced_id,
            }
        )


@dataclass(frozen=True, slots=True)
class OrderUpdate:
    """The body of the order PUT. Only the partner decides on CANCELLED, with a reason; the client never falls back to it."""

    order_id: str
    status: OrderState
    items: tuple[ItemUpdate, ...] = ()
    accepted_for: dt.datetime | None = None
    confirmed_amount: Decimal | None = None
    cancel_reason: CancelReason | None = None

    def __post_init__(self) -> None:
        replaced = {item.item_id for item in self.items if item.status == "REPLACED"}
        replacing = [item.replaced_id for item in self.items if item.replaced_id is not None]
        cancelling = self.status == "CANCELLED"
        rules = {
            "ACCEPTED needs accepted_for": self.status == "ACCEPTED" and self.accepted_for is None,
            f"{self.status} needs the items": not self.items and self.status != "ACCEPTED",
            "a replacing item names an item that is not replaced here": any(one not in replaced for one in replacing),
            "a replaced item and what replaces it belong in one request": len(replaced) > len(set(replacing)),
            "an item has one replacement at most": len(replacing) != len(set(replacing)),
            "CANCELLED needs its reason, and a reason needs CANCELLED": cancelling != (self.cancel_reason is not None),
            "a cancelled order finds none of its items": cancelling
            and any(item.status != "NOT_FOUND" for item in self.items),
        }
        _require(f"order {self.order_id!r}", rules)

    def wire(self) -> dict[str, Any]:
        """As the platform reads it."""
        cancellation = {"reason": self.cancel_reason, "cancelled_by": "VENDOR"} if self.cancel_reason else None
        return present(
            {
                "order_id": self.order_id,
                "status": self.status,
                "accepted_for": instant_text(self.accepted_for) if self.accepted_for else None,
                "items": [item.wire() for item in self.items] or None,
                "confirmed_amount": self.confirmed_amount,
                "cancellation": cancellation,
            }
        )
