"""Matches the lines of a picking result with the items of the order, and computes the order's total. Exact, without I/O."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from shelfsync.orders.picking_result import cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from partner_api.order import OrderItem
    from shelfsync.orders.order_state import OrderState
    from shelfsync.orders.picking_result import Goods, Line, PickingResult

_GRAIN = Decimal("0.001")


@dataclass(frozen=True, slots=True)
class Product:
    """The catalog entry of a SKU that is new to the order. `by_weight`: None if the platform does not report it."""

    sku: str
    price: Decimal | None
    by_weight: bool | None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Matched:
    """Lines with the items they match. `unmatched`: (line, why) of lines without an item; `missing`: items without a line."""

    pairs: tuple[tuple[Line, OrderItem], ...]
    added: tuple[Line, ...]
    unmatched: tuple[tuple[Line, str], ...]
    missing: tuple[OrderItem, ...]


def matched(order: OrderState, result: PickingResult) -> Matched:
    """A line matches the item with its `item_id` and SKU; without an id, the only item with its SKU.

    A weight or price of the line that is the ordered one, cut as results are, is the ordered one.
    """
    pairs: list[tuple[Line, OrderItem]] = []
    added: list[Line] = []
    unmatched: list[tuple[Line, str]] = []
    free = [item for item in order.items if item.status != "REPLACED"]
    for line in result.lines:
        if line.status == "added":
            added.append(line)
            continue
        item_or_error = _meant(free, line)
        if isinstance(item_or_error, str):
            unmatched.append((line, item_or_error))
        else:
            pairs.append((replace(line, goods=_as_ordered(line.goods, item_or_error)), item_or_error))
            free = [item for item in free if item is not item_or_error]
    return Matched(tuple(pairs), tuple(added), tuple(unmatched), tuple(free))


def _meant(free: list[OrderItem], line: Line) -> OrderItem | str:
    """The item, or the reason why there is none."""
    sku = line.goods.sku
    if sku is None:
        return "names no SKU: an item is always named by its SKU, the item_id alone would cancel the order"
    if line.item_id is not None:
        of_id = [item for item in free if (item.item_id or "").lower() == line.item_id]
        if not of_id:
            return f"names the item_id {line.item_id}, which is not in the order or has a line already"
        if of_id[0].sku != sku:
            return f"names {sku} and the item_id of {of_id[0].sku}: correct one of the two"
        return of_id[0]
    of_sku = [item for item in free if item.sku == sku]
    if len(of_sku) > 1:
        return f"{sku} is {len(of_sku)} times in the order: name the item_id too"
    return of_sku[0] if of_sku else f"{sku} is not in the order, or has a line already: what is new to it is 'added'"


def _as_ordered(goods: Goods, item: OrderItem) -> Goods:
    pricing = item.pricing
    return replace(
        goods,
        weight=_same(goods.weight, pricing.weight),
        unit_price=_same(goods.unit_price, pricing.unit_price),
        total_price=_same(goods.total_price, pricing.total_price),
    )


def _same(given: Decimal | None, ordered: Decimal | None) -> Decimal | None:
    return ordered if given is not None and ordered is not None and given == cut(ordered) else given


def is_weighed(item: OrderItem) -> bool:
    return item.pricing.pricing_type == "KG"


def value(item: OrderItem) -> Decimal | None:
    """The price of an item as it is in the order."""
    pricing = item.pricing
    if pricing.total_price is not None:
        return pricing.total_price
    if pricing.unit_price is None:
        return None
    amount = pricing.weight if is_weighed(item) else pricing.quantity
    return None if amount is None else _rounded(pricing.unit_price * amount)


def picked_value(item: OrderItem, goods: Goods) -> Decimal | None:
    """The price of an item as it was picked. Values sent back as they were ordered change nothing."""
    pricing = item.pricing
    if is_weighed(item):
        weight = pricing.weight if goods.weight is None else goods.weight
        return None if pricing.unit_price is None or weight is None else _rounded(pricing.unit_price * weight)
    if changed_total(item, goods) is not None:
        return goods.total_price
    unit = pricing.unit_price if goods.unit_price is None else goods.unit_price
    quantity = pricing.quantity if goods.quantity is None else goods.quantity
    if (unit, quantity) == (pricing.unit_price, pricing.quantity):
        return value(item)
    return None if unit is None or quantity is None else unit * quantity


def changed_unit(item: OrderItem, goods: Goods) -> Decimal | None:
    """A unit price that differs from the ordered one."""
    return None if goods.unit_price in {None, item.pricing.unit_price} else goods.unit_price


def changed_total(item: OrderItem, goods: Goods) -> Decimal | None:
    """A total price that differs from the ordered one and from unit price times quantity; otherwise None."""
    quantity = item.pricing.quantity if goods.quantity is None else goods.quantity
    unit = item.pricing.unit_price
    if goods.total_price in {None, item.pricing.total_price}:
        return None
    computed = None if quantity is None or unit is None else unit * quantity
    return None if computed is not None and goods.total_price in {computed, cut(computed)} else goods.total_price


def new_value(product: Product, goods: Goods) -> Decimal | None:
    """The price of goods that were not ordered, at the catalog's price or at the given one."""
    unit = product.price if goods.unit_price is None else goods.unit_price
    if weighed(product, goods):
        return None if unit is None or goods.weight is None else _rounded(unit * goods.weight)
    if goods.total_price is not None and goods.unit_price is None:
        return goods.total_price
    return None if unit is None or goods.quantity is None else unit * goods.quantity


def weighed(product: Product, goods: Goods) -> bool:
    """As in the catalog. If the catalog has no value, a line with a weight is weighed."""
    return goods.weight is not None if product.by_weight is None else product.by_weight


def total(order: OrderState, parts: Matched, products: Mapping[str, Product]) -> Decimal | None:
    """The total that the platform will compute: items and fees (interface.md 4.8.6); None if a price is unknown."""
    values: list[Decimal | None] = [order.fees, *_values(parts, products)]
    known = [price for price in values if price is not None]
    return max(Decimal(0), sum(known, Decimal(0))) if len(known) == len(values) else None


def _values(parts: Matched, products: Mapping[str, Product]) -> Iterable[Decimal | None]:
    for line, item in parts.pairs:
        if line.status == "picked":
            yield picked_value(item, line.goods)
        elif line.status == "replaced":
            for other in line.replaced_by:
                product = products.get(other.sku or "")
                yield None if product is None else new_value(product, other)
    for line in parts.added:
        product = products.get(line.goods.sku or "")
        yield None if product is None else new_value(product, line.goods)


def new_skus(result: PickingResult) -> frozenset[str]:
    """The SKUs whose catalog entries are needed."""
    named = [line.goods.sku for line in result.lines if line.status == "added"]
    named += [other.sku for line in result.lines if line.status == "replaced" for other in line.replaced_by]
    return frozenset(sku for sku in named if sku)


def _rounded(amount: Decimal) -> Decimal:
    return amount.quantize(_GRAIN, rounding=ROUND_HALF_UP)
