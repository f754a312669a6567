"""A naive implementation of section 4.8 on JSON: which results are legal, and what they lead to. It shares no code with the checks."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Any

Raw = dict[str, Any]
GRAIN = Decimal("0.001")
STATUS = {"picked": "IN_CART", "not_found": "NOT_FOUND", "replaced": "REPLACED"}


class IllegalError(Exception):
    """Section 4.8 forbids it."""


@dataclass
class Expected:
    """What a legal result makes of the order: `items` by `_id`: (status, total price); `replacing` by the `_id` replaced; SKUs added."""

    items: dict[str, tuple[str, Decimal]]
    replacing: dict[str, tuple[str, Decimal]]
    added: list[str]
    total: Decimal


def exact(value: Any) -> Decimal:
    return Decimal(str(value))


def cut(value: Any) -> Decimal | None:
    return None if value is None else exact(value).quantize(GRAIN, ROUND_DOWN)


def need(holds: bool) -> None:
    if not holds:
        raise IllegalError


def judged(order: Raw, result: Raw, catalog: dict[str, Raw]) -> Expected:
    """The expected order after this result. IllegalError: the result is illegal."""
    payment = order.get("payment", {})
    total = exact(payment.get("order_total", order.get("order_total"))) - exact(
        payment.get("sub_total", order.get("sub_total"))
    )
    expected = Expected({}, {}, [], total)
    left = {item["_id"]: item for item in order["items"]}
    need(any(line["status"] != "not_found" for line in result["items"]))
    for line in result["items"]:
        need(line.get("sku") is not None)
        if line["status"] == "added":
            need(line.get("item_id") is None and line.get("total_price") is None and not line.get("replaced_by"))
            expected.total += new_goods(line, catalog)
            expected.added.append(line["sku"])
            continue
        item = meant(left, line)
        del left[item["_id"]]
        need(line["status"] == "replaced" or not line.get("replaced_by"))
        price = exact(item["pricing"]["total_price"])
        if line["status"] == "picked":
            price = picked(item["pricing"], line)
            expected.total += price
        if line["status"] == "replaced":
            by, cost = replacement(item, line, catalog)
            expected.replacing[item["_id"]] = (by, cost)
            expected.total += cost
        expected.items[item["_id"]] = (STATUS[line["status"]], price)
    need(not left)
    expected.total = max(Decimal(0), expected.total)
    confirmed = cut(result.get("confirmed_amount"))
    if confirmed is not None:
        need(expected.total * Decimal("0.9") <= confirmed <= expected.total * Decimal("1.1"))
        expected.total = confirmed
    return expected


def meant(left: dict[str, Raw], line: Raw) -> Raw:
    if line.get("item_id") is not None:
        need(line["item_id"] in left and left[line["item_id"]]["sku"] == line["sku"])
        return left[line["item_id"]]
    found = [item for item in left.values() if item["sku"] == line["sku"]]
    need(len(found) == 1)
    return found[0]


def picked(pricing: Raw, line: Raw) -> Decimal:
    """4.8.4 and 4.8.5; a value that is sent back as it was is no change."""
    ordered = {name: exact(pricing[name]) for name in ("quantity", "unit_price", "total_price")}
    least, most = exact(pricing["min_quantity"]), exact(pricing["max_quantity"])
    unit, total, weight = cut(line.get("unit_price")), cut(line.get("total_price")), cut(line.get("weight"))
    quantity = ordered["quantity"] if line.get("quantity") is None else exact(line["quantity"])
    if pricing["pricing_type"] == "KG":
        kilos = exact(pricing["weight"]) if weight is None else weight
        need(quantity == 1 and unit in {None, ordered["unit_price"]})
        need(kilos == exact(pricing["weight"]) or (kilos > 0 and least <= kilos <= most))
        price = (ordered["unit_price"] * kilos).quantize(GRAIN, ROUND_HALF_UP)
        need(total in {None, price, ordered["total_price"]})
        return price
    need(weight is None)
    need(quantity == ordered["quantity"] or (quantity > 0 and quantity % 1 == 0 and least <= quantity <= most))
    need(unit is None or unit <= ordered["unit_price"])
    other_unit = unit not in {None, ordered["unit_price"]}
    other_total = total not in {None, ordered["total_price"], ordered["unit_price"] * quantity}
    need(not (other_unit and other_total))
    if other_total:
        assert total is not None
        return total
    if quantity == ordered["quantity"] and not other_unit:
        return ordered["total_price"]
    return (ordered["unit_price"] if unit is None else unit) * quantity


def new_goods(goods: Raw, catalog: dict[str, Raw]) -> Decimal:
    """4.8.7 and 4.8.8: known to the store's catalog, and complete; what it costs."""
    need(goods.get("sku") in catalog)
    product = catalog[goods["sku"]]
    quantity, weight, unit = goods.get("quantity"), cut(goods.get("weight")), cut(goods.get("unit_price"))
    price = exact(product["price"]) if unit is None else unit
    if product.get("is_sold_by_weight"):
        need(weight is not None and weight > 0 and (quantity is None or exact(quantity) == 1))
        assert weight is not None
        return (price * weight).quantize(GRAIN, ROUND_HALF_UP)
    need(weight is None and quantity is not None and exact(quantity) > 0 and exact(quantity) % 1 == 0)
    total = cut(goods.get("total_price"))
    return total if total is not None and unit is None else price * exact(quantity)


def replacement(item: Raw, line: Raw, catalog: dict[str, Raw]) -> tuple[str, Decimal]:
    """4.8.7: one, weighed only for weighed, the same or less."""
    need(all(line.get(name) is None for name in ("quantity", "weight", "unit_price", "total_price")))
    need(len(line["replaced_by"]) == 1)
    (goods,) = line["replaced_by"]
    cost = new_goods(goods, catalog)
    need(goods.get("unit_price") is None or goods.get("total_price") is None)
    if catalog[goods["sku"]].get("is_sold_by_weight"):
        need(item["pricing"]["pricing_type"] == "KG" and goods.get("total_price") is None)
    need(cost <= exact(item["pricing"]["total_price"]))
    return goods["sku"], cost
