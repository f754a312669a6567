"""The rules of a replacement for an item that is out of stock (interface.md 4.8.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.orders import cart
from shelfsync.orders.line_rules import unordered
from shelfsync.orders.line_rules.picked import name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from partner_api.order import OrderItem
    from shelfsync.orders.cart import Product
    from shelfsync.orders.order_state import OrderState
    from shelfsync.orders.picking_result import Goods, Line


def problems(
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
    yield from unordered.problems("replacement", order, goods, products)
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
