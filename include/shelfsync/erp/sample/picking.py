"""What a store of the sample finds on its shelves when it picks an order; the same order always gives the same result."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.erp.sample import tables

if TYPE_CHECKING:
    from collections.abc import Mapping

NOT_FOUND_SHARE = 0.1
_GRAM = Decimal("0.001")


def result(document: Mapping[str, Any], *, attempt: int) -> dict[str, Any]:
    """The picking result (docs/how-to/orders.md) for a document of kind new. At the second attempt everything is as it was ordered.

    Mostly everything is found. Weighed goods weigh a little more or less; at least one item is always there.
    """
    chance = Random(str(document["order_id"]))  # noqa: S311  a sample, not a secret
    lines = [_line(chance, item, attempt) for item in document["items"]]
    if all(line["status"] == "not_found" for line in lines):
        lines[0] = _picked(document["items"][0])
    return {"result_id": f"hub-{document['order_id']}-{attempt}", "action": "fulfil", "items": lines}


def sold(document: Mapping[str, Any], *, attempt: int) -> dict[str, Decimal]:
    """SKU -> pieces or kilograms that left the shelves with this result."""
    ordered = {item["item_id"]: item for item in document["items"]}
    found: dict[str, Decimal] = {}
    for line in result(document, attempt=attempt)["items"]:
        if line["status"] == "picked":
            item = ordered[line["item_id"]]
            by_weight = item["pricing_type"] == "KG"
            amount = Decimal(str(line.get("weight", item["weight"] if by_weight else item["quantity"])))
            found[line["sku"]] = found.get(line["sku"], Decimal(0)) + amount
    return found


def _line(chance: Random, item: Mapping[str, Any], attempt: int) -> dict[str, Any]:
    missing, heavier = chance.random() < NOT_FOUND_SHARE, Decimal(chance.randint(-50, 50)).scaleb(-3)
    if attempt:
        return _picked(item)
    if missing:
        return {"item_id": item["item_id"], "sku": item["sku"], "status": "not_found"}
    if item["pricing_type"] == "KG" and item.get("weight") is not None:
        weight = (Decimal(str(item["weight"])) * (1 + heavier)).quantize(_GRAM, ROUND_HALF_UP)
        least, most = (item.get(name) for name in ("min_quantity", "max_quantity"))
        if least is not None and most is not None and Decimal(str(least)) <= weight <= Decimal(str(most)):
            return {**_picked(item), "weight": str(weight)}
    return _picked(item)


def _picked(item: Mapping[str, Any]) -> dict[str, Any]:
    return {"item_id": item["item_id"], "sku": item["sku"], "status": "picked"}


STOCK_LEAST = 40


def plentiful(engine: sa.Engine, store: str, number: int) -> list[str]:
    """SKUs of a store with plenty of stock, sold by the piece, without a price of the store's own and in no campaign."""
    listing, product, movement = tables.listing.c, tables.product.c, tables.stock_movement
    stock = sa.func.sum(movement.c.quantity)
    moved = sa.and_(movement.c.store_id == listing.store_id, movement.c.product_id == listing.product_id)
    own_price = sa.exists().where(
        tables.price.c.store_id == listing.store_id, tables.price.c.product_id == listing.product_id
    )
    reduced = sa.exists().where(tables.campaign_price.c.product_id == listing.product_id)
    found = (
        sa.select(product.item_code)
        .select_from(tables.listing.join(tables.product).join(tables.store).join(movement, moved))
        .where(tables.store.c.code == store, listing.active, product.active, ~product.sold_by_weight)
        .where(~own_price, ~reduced, product.item_code.regexp_match("^[1-9][0-9]+$"))
        .group_by(product.item_code)
        .having(stock >= STOCK_LEAST)
        .order_by(product.item_code)
        .limit(number)
    )
    with engine.connect() as connection:
        return list(connection.execute(found).scalars())
