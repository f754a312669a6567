"""The rules of a picked item (interface.md 4.8.4, 4.8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.orders import cart

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from partner_api.order import OrderItem
    from shelfsync.orders.picking_result import Goods


def problems(item: OrderItem, goods: Goods) -> Iterator[tuple[str, str]]:
    """(rule, message) of each broken rule."""
    if item.sku is None:
        yield "sku", "An item of the order has no SKU: it cannot be sent without cancelling the order."
    elif item.pricing.pricing_type not in {"UNIT", "KG"}:
        yield "pricing_type", f"{name(item)}: the platform has not reported whether it is counted or weighed."
    elif cart.is_weighed(item):
        yield from _weighed(item, goods)
    else:
        yield from _counted(item, goods)


def _counted(item: OrderItem, goods: Goods) -> Iterator[tuple[str, str]]:
    pricing, who = item.pricing, name(item)
    if goods.weight is not None:
        yield "weight_of_pieces", f"{who} is counted in pieces: give no weight."
    if goods.quantity is not None:
        yield from _quantity(item, goods.quantity)
    unit, total = cart.changed_unit(item, goods), cart.changed_total(item, goods)
    if unit is not None and pricing.unit_price is None:
        yield "unit_price", f"{who}: the ordered price is not known, so none can be given."
    elif unit is not None and pricing.unit_price is not None and unit > pricing.unit_price:
        yield "unit_price", f"{who}: the price per piece is {pricing.unit_price} and can only go down, not to {unit}."
    if unit is not None and total is not None:
        yield "both_prices", f"{who}: give the price per piece or the total price, not both."


def _quantity(item: OrderItem, quantity: Decimal) -> Iterator[tuple[str, str]]:
    pricing, who = item.pricing, name(item)
    if quantity == pricing.quantity:
        return
    if quantity != quantity.to_integral_value():
        yield "whole_pieces", f"{who}: {quantity} is no whole number of pieces."
    elif quantity == 0:
        yield "quantity", f"{who}: 0 pieces were picked. Send not_found."
    elif pricing.min_quantity is not None and quantity < pricing.min_quantity:
        yield (
            "quantity",
            f"{who}: {quantity:f} pieces are fewer than the {pricing.min_quantity:f} that are allowed. Send not_found.",
        )
    elif pricing.max_quantity is not None and quantity > pricing.max_quantity:
        yield "quantity", f"{who}: {quantity:f} pieces are more than the {pricing.max_quantity:f} that are allowed."


def _weighed(item: OrderItem, goods: Goods) -> Iterator[tuple[str, str]]:
    pricing, who = item.pricing, name(item)
    if goods.quantity is not None and goods.quantity != (1 if pricing.quantity is None else pricing.quantity):
        yield "quantity_of_weighed", f"{who} is weighed: give the weight and no quantity."
    unit_changed = goods.unit_price not in {None, pricing.unit_price}
    if unit_changed or goods.total_price not in {None, pricing.total_price, cart.picked_value(item, goods)}:
        yield "price_of_weighed", f"{who} is weighed: its price follows the weight and cannot be changed."
    weight = goods.weight
    if weight is None or weight == pricing.weight:
        return
    if weight == 0 or (pricing.min_quantity is not None and weight < pricing.min_quantity):
        yield (
            "weight",
            f"{who}: {weight} kg are less than the {pricing.min_quantity or 0:f} kg that are allowed. Send not_found.",
        )
    elif pricing.max_quantity is not None and weight > pricing.max_quantity:
        yield "weight", f"{who}: {weight} kg are more than the {pricing.max_quantity:f} kg that are allowed."


def name(item: OrderItem) -> str:
    """The SKU and the name, as in the store's list."""
    return f"{item.sku} ({item.name})" if item.name else str(item.sku)
