"""An order as the platform stores it (interface.md 2.5, 2.6): money in thousandths, weights in grams, instants in microseconds."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

State = Literal["RECEIVED", "ACCEPTED", "READY_FOR_PICKUP", "DISPATCHED", "PICKED_UP", "CANCELLED"]
ItemState = Literal["NOT_PROCESSED", "IN_CART", "NOT_FOUND", "REPLACED", "ADDITION"]
TransportType = Literal["LOGISTICS_DELIVERY", "VENDOR_DELIVERY"]
OrderType = Literal["DELIVERY", "PICKUP"]
ENDED: tuple[State, ...] = ("PICKED_UP", "CANCELLED")
OUT_OF_THE_CART: tuple[ItemState, ...] = ("NOT_FOUND", "REPLACED")


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Pricing(_Kept):
    """`UNIT`: pieces at a price each. `KG`: quantity 1, a weight, a price per kilogram."""

    pricing_type: Literal["UNIT", "KG"]
    quantity: int
    weight_g: int | None = None
    unit_price_milli: int
    total_price_milli: int
    list_price_milli: int
    least: int
    """Pieces or, for `KG`, grams."""
    most: int


class AppliedPromotion(_Kept):
    """Fixed when the order was made, whatever happens to the item later (interface.md 4.8.3)."""

    name: str
    type: str
    discount_milli: int


class Item(_Kept):
    id: str
    sku: str
    name: str
    status: ItemState
    pricing: Pricing
    original_pricing: Pricing
    promotions: tuple[AppliedPromotion, ...] = ()
    replaced_id: str | None = None


class CartDiscount(_Kept):
    """Taken from the whole order."""

    name: str
    value_milli: int


class Order(_Kept):
    order_id: str
    external_order_id: str
    order_code: str
    chain: str
    vendor: str
    vendor_name: str
    external_partner_config_id: str | None
    transport_type: TransportType
    order_type: OrderType
    state: State
    promised_us: int
    accepted_us: int | None = None
    created_us: int
    updated_us: int
    items: tuple[Item, ...]
    customer: dict[str, Any]
    address: dict[str, Any] | None
    loyalty_program: dict[str, Any]
    comment: str
    replacement_preferences: dict[str, Any]
    payment_type: Literal["PAID", "CASH"]
    delivery_fee_milli: int
    service_fee_milli: int
    discounts: tuple[CartDiscount, ...] = ()
    sub_total_milli: int
    order_total_milli: int
    confirmed_milli: int | None = None
    cancellation: dict[str, Any] | None = None

    def with_items(self, items: tuple[Item, ...]) -> Order:
        """The same with other items, and totals that follow from them."""
        sub_total = sub_total_milli(items)
        values = {
            "items": items,
            "sub_total_milli": sub_total,
            "order_total_milli": max(0, sub_total + self.fees_milli - self.discount_milli),
        }
        return self.model_copy(update=values)

    @property
    def fees_milli(self) -> int:
        return self.delivery_fee_milli + self.service_fee_milli

    @property
    def discount_milli(self) -> int:
        return sum(discount.value_milli for discount in self.discounts)


def sub_total_milli(items: tuple[Item, ...]) -> int:
    """What is in the cart, or still to be put there."""
    return sum(item.pricing.total_price_milli for item in items if item.status not in OUT_OF_THE_CART)


def total_milli(pricing_type: str, unit_price_milli: int, quantity: int, weight_g: int | None) -> int:
    """Price per piece times pieces, or per kilogram times weight, rounded half up to a thousandth."""
    if pricing_type == "UNIT":
        return unit_price_milli * quantity
    return (unit_price_milli * (weight_g or 0) + 500) // 1000
