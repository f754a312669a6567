"""The rules of an added product (interface.md 4.8.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.orders.line_rules import unordered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shelfsync.orders.cart import Product
    from shelfsync.orders.order_state import OrderState
    from shelfsync.orders.picking_result import Line


def problems(order: OrderState, line: Line, products: Mapping[str, Product]) -> Iterator[tuple[str, str]]:
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
    yield from unordered.problems("addition", order, goods, products)
