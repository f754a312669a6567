"""Promotions as people see them: the state in the partner portal (interface.md 3.4), and what a customer sees now.

Where several cover a product, the later start wins (field notes, Promotions).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select, text

from partner_sandbox import money
from partner_sandbox.clock import iso
from partner_sandbox.promotions.store import promotion, promotion_sku
from partner_sandbox.vendors import vendor_table


def state_of(row: Row[Any], now_us: int) -> str:
    """What the partner portal shows: Cancelled, Ended, Running or Upcoming."""
    if not row.active and row.cancelled_us < row.end_us:
        return "Cancelled"
    if now_us >= row.end_us:
        return "Ended"
    return "Upcoming" if now_us < row.start_us else "Running"


def overview(connection: Connection, chain: str, now_us: int, limit: int = 200, first: int = 0) -> list[dict[str, Any]]:
    """The promotions of a chain, the newest first."""
    mine = select(promotion).where(promotion.c.chain == chain).order_by(promotion.c.id.desc())
    return [_shown(connection, row, now_us) for row in connection.execute(mine.offset(first).limit(limit)).all()]


def count(connection: Connection, chain: str) -> int:
    """How many promotions a chain has."""
    mine = select(func.count()).select_from(promotion).where(promotion.c.chain == chain)
    return int(connection.execute(mine).scalar_one())


def one(connection: Connection, chain: str, promotion_id: int, now_us: int) -> dict[str, Any] | None:
    mine = select(promotion).where(promotion.c.chain == chain, promotion.c.id == promotion_id)
    row = connection.execute(mine).one_or_none()
    return None if row is None else _shown(connection, row, now_us)


def skus(connection: Connection, promotion_id: int, first: int, count: int) -> Iterator[dict[str, Any]]:
    """The SKUs in force, by vendor and SKU."""
    mine = (
        select(vendor_table.c.vendor, promotion_sku)
        .join(vendor_table, vendor_table.c.id == promotion_sku.c.vendor_key)
        .where(promotion_sku.c.promotion_id == promotion_id, promotion_sku.c.seen_until_us.is_(None))
        .order_by(promotion_sku.c.vendor_key, promotion_sku.c.sku)
        .offset(first)
        .limit(count)
    )
    for row in connection.execute(mine):
        yield {
            "vendor": row.vendor,
            "sku": row.sku,
            "subtype": row.subtype,
            "value": money.text(row.value_milli),
            "max_quantity": row.max_quantity,
            "seen_from_us": row.seen_from_us,
        }


def _shown(connection: Connection, row: Row[Any], now_us: int) -> dict[str, Any]:
    counted = select(
        func.count(), func.count(promotion_sku.c.sku.distinct()), func.count(promotion_sku.c.vendor_key.distinct())
    ).where(promotion_sku.c.promotion_id == row.id, promotion_sku.c.seen_until_us.is_(None))
    pairs, count, vendors = connection.execute(counted).one()
    return {
        "id": row.id,
        "name": _name(row.display_name),
        "display_name": row.display_name,
        "state": state_of(row, now_us),
        "type": row.type,
        "reason": row.reason,
        "vendors": row.vendors,
        "vendors_with_skus": vendors,
        "skus": count,
        "pairs": pairs,
        "start_us": row.start_us,
        "end_us": row.end_us,
        "start_time": iso(row.start_us),
        "end_time": iso(row.end_us),
        "updated_at": iso(row.updated_us),
    }


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
_SOME = text(_SEEN.format(only="AND s.sku IN :skus")).bindparams(bindparam("skus", expanding=True))


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
        return money.discounted_milli(self.subtype, self.value_milli, shelf_milli)

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
        rows = connection.execute(_SOME, {**wanted, "skus": list(skus)})
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
    return Seen(name=_name(names), **{k: v for k, v in row.items() if k != "sku"})


def _name(names: dict[str, str]) -> str:
    return names.get("en_GB") or next(iter(names.values()), "without a name")
