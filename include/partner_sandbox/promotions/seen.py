"""The promotions a customer sees now: where several cover a product, the later start wins (field notes, Promotions)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection, text

from partner_sandbox.catalog import money
from partner_sandbox.clock import iso


class Discounted(Protocol):
    """Anything with a kind of discount and its value in thousandths."""

    @property
    def subtype(self) -> str: ...
    @property
    def value_milli(self) -> int: ...


def discounted_milli(by: Discounted, price_milli: int | None) -> int | None:
    """The price after the discount, cut to thousandths; None where it would not be above zero and below the price."""
    if price_milli is None:
        return None
    if by.subtype == "FINAL_PRICE":
        price = by.value_milli
    elif by.subtype == "ABSOLUTE":
        price = price_milli - by.value_milli
    else:  # 100,000 thousandths of a per cent are the whole
        price = price_milli * (100_000 - by.value_milli) // 100_000
    free = by.subtype == "PERCENTAGE" and by.value_milli == 100_000
    return price if (price > 0 or free) and price < price_milli else None


STRIKETHROUGH = "STRIKETHROUGH"
_SEEN = """
    SELECT s.sku, s.subtype, s.value_milli, s.max_quantity, p.id AS promotion_id, p.display_name, p.type,
        p.start_us, p.end_us, p.purchased_quantity, p.discounted_quantity, p.max_discount_milli, p.max_items
    FROM promotion_sku AS s JOIN promotion AS p ON p.id = s.promotion_id
    WHERE s.vendor_key = :vendor {only}
        AND s.seen_from_us <= :now AND (s.seen_until_us IS NULL OR s.seen_until_us > :now)
        AND p.seen_from_us <= :now AND (p.seen_until_us IS NULL OR p.seen_until_us > :now)
        AND p.start_us <= :now AND p.end_us > :now
    ORDER BY p.start_us, p.id
"""
_ALL = text(_SEEN.format(only=""))
_SOME = text(_SEEN.format(only="AND s.sku IN (SELECT value FROM json_each(:skus))"))


@dataclass(frozen=True)
class Seen:
    """The promotion that counts for one SKU of a vendor."""

    promotion_id: int
    name: str
    type: str
    subtype: str
    value_milli: int
    max_quantity: int | None
    start_us: int
    end_us: int
    purchased_quantity: int | None
    discounted_quantity: int | None
    max_discount_milli: int | None
    max_items: int | None

    def price_milli(self, shelf_milli: int | None) -> int | None:
        """What a discounted piece costs; None where the shelf price is not above it any more."""
        return discounted_milli(self, shelf_milli)

    def shown(self, shelf_milli: int | None) -> dict[str, Any] | None:
        """As the control plane shows it; None if no price is struck through."""
        price = self.price_milli(shelf_milli)
        if price is None:
            return None
        shown = {"name": self.name, "type": self.type, "price": money.number(price)}
        if self.type != STRIKETHROUGH:
            shown |= {"purchased_quantity": self.purchased_quantity, "discounted_quantity": self.discounted_quantity}
        return {**shown, "start_time": iso(self.start_us), "end_time": iso(self.end_us)}


def now(connection: Connection, vendor_key: int, now_us: int, skus: Iterable[str] | None = None) -> dict[str, Seen]:
    """By SKU, for all of a vendor or for some."""
    wanted: dict[str, Any] = {"vendor": vendor_key, "now": now_us}
    if skus is None:
        rows = connection.execute(_ALL, wanted)
    else:
        rows = connection.execute(_SOME, {**wanted, "skus": json.dumps(list(skus))})
    return {row["sku"]: _seen(dict(row)) for row in rows.mappings()}  # in the order of their start: the last one stays


def dressed(
    connection: Connection, vendor_key: int, now_us: int, products: Iterable[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Products of the control plane with, under `app`, the promotion a customer sees on them."""
    current = now(connection, vendor_key, now_us)
    for product in products:
        found = current.get(product["sku"])
        price = product["app"]["price"]
        shelf = None if price is None else round(price * 1000)
        yield {**product, "app": {**product["app"], "promotion": None if found is None else found.shown(shelf)}}


def _seen(row: dict[str, Any]) -> Seen:
    names: dict[str, str] = json.loads(row.pop("display_name"))
    return Seen(name=names.get("en_GB") or next(iter(names.values())), **{k: v for k, v in row.items() if k != "sku"})
