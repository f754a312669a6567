"""Builds the request of a result (interface.md 4.8): the status, every item with its SKU, prices only where changed.

The platform may apply only part of a request (4.8.7): `differences` compares its order with the result afterwards.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from partner_api.order_update import ItemUpdate, OrderUpdate
from shelfsync.errors import DataError
from shelfsync.orders import cart
from shelfsync.orders.picking_rules import Problem, name, problems

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from partner_api.order import OrderItem
    from shelfsync.orders.cart import Product
    from shelfsync.orders.order_state import OrderState
    from shelfsync.orders.picking_result import Goods, Line, PickingResult


Fulfilment = Literal["READY_FOR_PICKUP", "DISPATCHED"]
_ONE = Decimal(1)


def fulfilment(order: OrderState) -> Fulfilment:
    """The status that ends the picking: DISPATCHED if the store delivers, otherwise READY_FOR_PICKUP."""
    delivered_by_store = order.transport_type == "VENDOR_DELIVERY" and order.order_type != "PICKUP"
    return "DISPATCHED" if delivered_by_store else "READY_FOR_PICKUP"


def request(
    order: OrderState, result: PickingResult, products: Mapping[str, Product], *, only_check: bool = False
) -> OrderUpdate:
    """The request. DataError: the result breaks a rule. `only_check`: as UPDATE_CART, which changes nothing."""
    broken = problems(order, result, products)
    if broken:
        raise DataError(f"order {order.order_id}: {broken[0].message} Nothing was sent.")
    if result.action == "accept":
        return OrderUpdate(order.order_id, "ACCEPTED", accepted_for=result.accepted_for)
    if result.action == "cancel":
        items = tuple(_item(item, "NOT_FOUND") for item in order.items)
        return OrderUpdate(order.order_id, "CANCELLED", items, cancel_reason=result.reason)  # type: ignore[arg-type]  # a rule checks it
    parts = cart.matched(order, result)
    items = (
        *(update for line, item in parts.pairs for update in _updates(line, item, products)),
        *(_addition(line.goods, products) for line in parts.added),
    )
    status = "UPDATE_CART" if only_check or result.action == "check" else fulfilment(order)
    return OrderUpdate(order.order_id, status, items, confirmed_amount=result.confirmed_amount)


def _updates(line: Line, item: OrderItem, products: Mapping[str, Product]) -> Iterator[ItemUpdate]:
    if line.status == "not_found":
        yield _item(item, "NOT_FOUND")
    elif line.status == "replaced":
        yield _item(item, "REPLACED")
        (goods,) = line.replaced_by
        product = products[goods.sku or ""]
        by_weight = cart.weighed(product, goods)
        yield ItemUpdate(
            product.sku,
            "IN_CART",
            quantity=_ONE if by_weight else goods.quantity,
            unit_price=goods.unit_price,
            total_price=goods.total_price,
            weight=goods.weight if by_weight else None,
            replaced_id=item.item_id,
        )
    else:
        yield _picked(item, line.goods)


def _picked(item: OrderItem, goods: Goods) -> ItemUpdate:
    pricing = item.pricing
    if cart.is_weighed(item):
        weight = pricing.weight if goods.weight is None else goods.weight
        return ItemUpdate(_sku(item), "IN_CART", item_id=item.item_id, weight=weight, pricing_type="KG")
    total = cart.changed_total(item, goods)
    return ItemUpdate(
        _sku(item),
        "IN_CART",
        item_id=item.item_id,
        quantity=pricing.quantity if goods.quantity is None else goods.quantity,
        unit_price=cart.changed_unit(item, goods),
        total_price=total,
        pricing_type="UNIT",
    )


def _item(item: OrderItem, status: Literal["NOT_FOUND", "REPLACED"]) -> ItemUpdate:
    """The item as it was ordered, with this status."""
    weighed = cart.is_weighed(item)
    return ItemUpdate(
        _sku(item),
        status,
        item_id=item.item_id,
        quantity=None if weighed else item.pricing.quantity,
        weight=item.pricing.weight if weighed else None,
        pricing_type="KG" if weighed else "UNIT",
    )


def _addition(goods: Goods, products: Mapping[str, Product]) -> ItemUpdate:
    product = products[goods.sku or ""]
    by_weight = cart.weighed(product, goods)
    return ItemUpdate(
        product.sku,
        "ADDITION",
        quantity=_ONE if by_weight else goods.quantity,
        weight=goods.weight if by_weight else None,
        unit_price=goods.unit_price,
    )


def _sku(item: OrderItem) -> str:
    if not item.sku:
        raise DataError(
            "an item of the order has no SKU, and an item without its SKU cancels the order. Nothing was sent."
        )
    return item.sku


NOT_REFLECTED = "not_reflected"
_BECOMES = {"picked": "IN_CART", "not_found": "NOT_FOUND", "replaced": "REPLACED"}


def differences(before: OrderState, result: PickingResult, after: Sequence[OrderItem]) -> tuple[Problem, ...]:
    """The parts of a fulfilment that the items do not show; empty: none. An item without an `_id` counts as equal."""
    if result.action not in {"fulfil", "check"}:
        return ()
    of_id = {item.item_id: item for item in after if item.item_id}
    messages: list[str] = []
    for line, item in cart.matched(before, result).pairs:
        ended = of_id.get(item.item_id or "")
        if ended is not None:
            messages += _line_differences(line, item, ended, after)
    added = [item.sku for item in after if item.status == "ADDITION"]
    for line in result.lines:
        if line.status == "added" and line.goods.sku in added:
            added.remove(line.goods.sku)
        elif line.status == "added":
            messages.append(f"{line.goods.sku} was added, and the platform has not put it into the order.")
    return tuple(Problem(NOT_REFLECTED, message) for message in messages)


def shows_change(after: Sequence[OrderItem]) -> bool:
    """Whether the items show any change. Feedback that repeats the order as it was has no information."""
    return any(item.status not in {None, "NOT_PROCESSED"} for item in after)


def _line_differences(line: Line, item: OrderItem, ended: OrderItem, after: Sequence[OrderItem]) -> Iterator[str]:
    goods = line.goods
    if line.status == "replaced" and not any(other.replaced_id == item.item_id for other in after):
        by = line.replaced_by[0].sku if line.replaced_by else "nothing"
        yield f"{name(item)} was to be replaced by {by}, and the platform has not done it: it may be more expensive there now. The customer does not see it."
    elif ended.status != _BECOMES[line.status]:
        status = (ended.status or "nothing").lower().replace("_", " ")
        yield f"{name(item)} is {status} on the platform, and the store reported {line.status}."
    elif (
        line.status == "picked" and goods.quantity is not None and ended.pricing.quantity not in {None, goods.quantity}
    ):
        yield f"{name(item)}: {ended.pricing.quantity} pieces are in the platform's order, and {goods.quantity} were picked."
    elif line.status == "picked" and goods.weight is not None and ended.pricing.weight not in {None, goods.weight}:
        yield f"{name(item)}: {ended.pricing.weight} kg are in the platform's order, and {goods.weight} kg were picked."
