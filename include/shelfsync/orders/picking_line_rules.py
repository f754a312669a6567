"""The rules of one line of a picking result: picked, replaced or added (interface.md 4.8.4 to 4.8.8).

Each function yields (rule, message) of each broken rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.orders import cart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from partner_api.order import OrderItem
    from shelfsync.orders.cart import Product
    from shelfsync.orders.order_state import OrderState
    from shelfsync.orders.picking_result import Goods, Line


def picked_problems(item: OrderItem, goods: Goods) -> Iterator[tuple[str, str]]:
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


def unordered_problems(
    rule: str, order: OrderState, goods: Goods, products: Mapping[str, Product]
) -> Iterator[tuple[str, str]]:
    """(rule, message) of each missing or unknown value. `rule`: replacement or addition."""
    if goods.sku is None:
        yield "sku", f"A product that comes as {rule} names no SKU."
        return
    product = products.get(goods.sku)
    if product is None:
        yield (
            f"{rule}_unknown",
            f"{goods.sku} is not in the catalog of store {order.vendor}: only its products can be used.",
        )
        return
    weighed = cart.weighed(product, goods)
    if weighed and goods.weight is None:
        yield f"{rule}_weight", f"{goods.sku} is weighed: give its weight."
    elif weighed and goods.weight == 0:
        yield f"{rule}_weight", f"{goods.sku}: its weight is 0."
    elif weighed and goods.quantity is not None and goods.quantity != 1:
        yield "quantity_of_weighed", f"{goods.sku} is weighed: give the weight and no quantity."
    elif not weighed and goods.weight is not None:
        yield "weight_of_pieces", f"{goods.sku} is counted in pieces: give no weight."
    elif not weighed and goods.quantity is None:
        yield f"{rule}_quantity", f"{goods.sku}: the quantity is missing."
    elif not weighed and goods.quantity is not None and goods.quantity != goods.quantity.to_integral_value():
        yield "whole_pieces", f"{goods.sku}: {goods.quantity} is no whole number of pieces."
    elif not weighed and goods.quantity == 0:
        yield f"{rule}_quantity", f"{goods.sku}: its quantity is 0."


def replacement_problems(
    order: OrderState, item: OrderItem, line: Line, products: Mapping[str, Product]
) -> Iterator[tuple[str, str]]:
    """(rule, message) of each broken rule."""
    who = name(item)
    if item.item_id is None:
        yield (
            "item_id",
            f"{who}: the platform has not sent its _id, without which it cannot be replaced. Send not_found.",
        )
    if item.sku is None:
        yield "sku", "An item of the order has no SKU: it cannot be sent without cancelling the order."
    own = line.goods
    if (own.quantity, own.weight, own.unit_price, own.total_price) != (None,) * 4:
        yield (
            "replaced_values",
            f"{who} is replaced, so it has neither quantity, weight nor price: those belong to replaced_by.",
        )
    if len(line.replaced_by) != 1:
        count = "nothing replaces it" if not line.replaced_by else f"{len(line.replaced_by)} products replace it"
        yield "one_replacement", f"{who} is replaced, and {count}: exactly one product can."
        return
    (goods,) = line.replaced_by
    yield from unordered_problems("replacement", order, goods, products)
    product = products.get(goods.sku or "")
    if product is not None:
        yield from _cost(item, goods, product)


def _cost(item: OrderItem, goods: Goods, product: Product) -> Iterator[tuple[str, str]]:
    who = name(item)
    if goods.unit_price is not None and goods.total_price is not None:
        yield "both_prices", f"{goods.sku}: give the price per piece or the total price, not both."
        return
    if cart.weighed(product, goods):
        if goods.total_price is not None:
            yield "price_of_weighed", f"{goods.sku} is weighed: its price follows the weight, give no total price."
            return
        if not cart.is_weighed(item):
            yield (
                "weighed_for_counted",
                f"{who} is counted in pieces and cannot be replaced by {goods.sku}, which is weighed.",
            )
    new, old = cart.new_value(product, goods), cart.value(item)
    if old is None or new is None:
        if goods.sku and (goods.quantity is not None or goods.weight is not None):
            yield (
                "dearer",
                f"{goods.sku} for {who}: a price is not known, so it may be more expensive. Give a unit_price.",
            )
    elif new > old:
        yield (
            "dearer",
            f"{goods.sku} for {who}: {new:f} is more than {old:f}, and a replacement must not be more expensive. Give a lower price.",
        )


def addition_problems(order: OrderState, line: Line, products: Mapping[str, Product]) -> Iterator[tuple[str, str]]:
    """(rule, message) of each broken rule."""
    goods = line.goods
    if line.item_id is not None:
        yield "addition_item_id", f"{goods.sku} is added, so it has no item_id yet: leave it out."
    if line.replaced_by:
        yield "replacement", f"{goods.sku} is added and has a replacement: it is one or the other."
    if goods.total_price is not None:
        yield (
            "addition_total_price",
            f"{goods.sku} is added: give a price per piece, or none for the catalog's, and no total price.",
        )
    yield from unordered_problems("addition", order, goods, products)
