"""The rules that replacements and additions have in common (interface.md 4.8.7, 4.8.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.orders import cart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shelfsync.orders.cart import Product
    from shelfsync.orders.order_state import OrderState
    from shelfsync.orders.picking_result import Goods


def problems(rule: str, order: OrderState, goods: Goods, products: Mapping[str, Product]) -> Iterator[tuple[str, str]]:
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
