"""Checks a result against every rule of interface.md 4.8 before it is sent. The messages are for the store's staff.

It reports all problems at once. The platform accepts the request of a result without a problem. A result with a problem is
never sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.orders import cart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from partner_api.order import OrderItem
    from shelfsync.orders.cart import Matched, Product
    from shelfsync.orders.order_state import OrderState
    from shelfsync.orders.picking_result import Goods, Line, PickingResult


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


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule. `rule`: a stable keyword (docs/how-to/orders.md lists them all); `message`: for the person who picked."""

    rule: str
    message: str


def problems(order: OrderState, result: PickingResult, products: Mapping[str, Product]) -> tuple[Problem, ...]:
    """The rules that this result breaks; empty: none. `products`: the catalog entries of the SKUs that are new to the order."""
    steps = {"accept": _accept, "fulfil": _fulfil, "check": _fulfil, "cancel": _cancel}
    return tuple(Problem(rule, message) for rule, message in steps[result.action](order, result, products))


def _accept(order: OrderState, result: PickingResult, _products: Mapping[str, Product]) -> Iterator[tuple[str, str]]:
    if order.transport_type != "VENDOR_DELIVERY":
        yield (
            "accept_vendor_delivery",
            "Only an order that the store delivers itself is accepted; this one is fulfilled without it.",
        )
    if result.accepted_for is None:
        yield "accepted_for", "accepted_for is missing: send the time at which the customer will have the order."
    if order.status != "RECEIVED":
        yield "state", f"The order is {_status_name(order.status)}: only a new order can be accepted."
    if result.lines or result.confirmed_amount is not None:
        yield (
            "accept_alone",
            "An acceptance carries neither items nor an amount: send what was picked when the order is fulfilled.",
        )


def _cancel(order: OrderState, result: PickingResult, _products: Mapping[str, Product]) -> Iterator[tuple[str, str]]:
    if not order.is_open:
        yield "state", f"The order is {_status_name(order.status)}: it can no longer be cancelled."
    if result.reason is None:
        yield "cancel_reason", "The reason is missing: CLOSED, ITEM_UNAVAILABLE or TOO_BUSY."
    if not order.items or any(item.sku is None for item in order.items):
        yield "items", "The platform has not sent the items of the order, so it cannot be cancelled from here."


def _fulfil(order: OrderState, result: PickingResult, products: Mapping[str, Product]) -> Iterator[tuple[str, str]]:
    if not order.is_open:
        yield "state", f"The order is {_status_name(order.status)}: nothing in it can be changed any more."
    if order.transport_type not in {"LOGISTICS_DELIVERY", "VENDOR_DELIVERY"} and order.order_type != "PICKUP":
        yield (
            "transport_type",
            "The platform has not reported who delivers the order, so the status that fulfils it is unknown.",
        )
    if result.accepted_for is not None or result.reason is not None:
        yield "fields", "accepted_for belongs to an acceptance and reason to a cancellation: leave them out."
    parts = cart.matched(order, result)
    yield from _lines(order, parts, products)
    if not any(line.status != "not_found" for line in result.lines):
        yield (
            "nothing_picked",
            "Nothing of the order was found. An empty order is not delivered: cancel it, with the reason, if that is meant.",
        )
    yield from _amount(order, result, parts, products)


def _lines(order: OrderState, parts: Matched, products: Mapping[str, Product]) -> Iterator[tuple[str, str]]:
    for line, why in parts.unmatched:
        yield ("sku" if line.goods.sku is None else "item"), f"A line that is {line.status} {why}."
    for item in parts.missing:
        yield "undecided", f"{name(item)}: it has no line. Send picked, not_found or replaced."
    for line, item in parts.pairs:
        if line.replaced_by and line.status != "replaced":
            why = f"{name(item)} is {line.status} and has a replacement: it is replaced, or it has none."
            yield "replacement", why
        if line.status == "picked":
            yield from picked_problems(item, line.goods)
        elif line.status == "replaced":
            yield from replacement_problems(order, item, line, products)
    for line in parts.added:
        yield from addition_problems(order, line, products)


def _amount(
    order: OrderState, result: PickingResult, parts: Matched, products: Mapping[str, Product]
) -> Iterator[tuple[str, str]]:
    confirmed = result.confirmed_amount
    if confirmed is None:
        return
    total = cart.total(order, parts, products)
    if total is None:
        yield (
            "confirmed_amount",
            "confirmed_amount cannot be compared with the total, because a price is not known: leave it out.",
        )
    elif abs(confirmed - total) * 10 > total:
        yield (
            "confirmed_amount",
            f"confirmed_amount {confirmed} is more than 10 % away from {total}, the sum of items and fees.",
        )


def _status_name(status: str) -> str:
    return status.lower().replace("_", " ") or "in a state that the platform did not name"
