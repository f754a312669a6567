"""What a customer pays for a SKU at a vendor at an instant, and why: the acknowledged base price and the promotions that cover it."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.engine import Engine

_THOUSANDTH = Decimal("0.001")

_BASE = "SELECT price, active, acknowledged_at FROM warehouse.baseline WHERE vendor = :vendor AND sku = :sku"
_PROMOTIONS = """
    SELECT p.promotion_id, p.campaign, p.name, p.type, p.start_time, p.end_time, p.state, p.told_at, p.ended_at,
        s.subtype, s.value, s.known, r.reason AS refused
    FROM warehouse.promotion AS p
    JOIN warehouse.promotion_vendor AS v ON v.promotion_id = p.promotion_id AND v.vendor IN (:vendor, '*')
    JOIN warehouse.promotion_sku AS s ON s.promotion_id = p.promotion_id AND s.sku = :sku
    LEFT JOIN ledger.promotion_rejection AS r ON r.promotion_id = p.promotion_id AND r.vendor = :vendor AND r.sku = s.sku
    WHERE p.start_time <= :at AND p.end_time > :at AND p.state = 'told'
    ORDER BY p.start_time DESC, p.promotion_id DESC
"""


@dataclass(frozen=True)
class CustomerPrice:
    """`price` is what a customer pays, None where the base price is not known; `why` is a sentence.

    `promotions`: all that cover the SKU then, the one that counts first (the later start wins): promotion_id, campaign, name, type,
    start_time, end_time, subtype, value, price, known (False: in doubt), refused (why the platform did not take it here).
    """

    vendor: str
    sku: str
    price: Decimal | None
    base_price: Decimal | None
    active: bool | None
    why: str
    promotions: list[dict[str, Any]] = field(default_factory=list)


def customer_price(engine: Engine, vendor: str, sku: str, at: dt.datetime) -> CustomerPrice:
    """As far as the platform has acknowledged it; a change takes up to half an hour to the app, a promotion up to 50 minutes."""
    values = {"vendor": vendor, "sku": sku, "at": at}
    with engine.connect() as connection:
        base = connection.execute(sa.text(_BASE), values).one_or_none()
        rows = [dict(row) for row in connection.execute(sa.text(_PROMOTIONS), values).mappings()]
    base_price = None if base is None else base.price
    for row in rows:
        row["price"] = promoted(row["subtype"], row["value"], base_price)
    counts = next(
        (row for row in rows if row["refused"] is None and row["known"] and row["type"] == "STRIKETHROUGH"), None
    )
    price, why = _verdict(base_price, counts)
    if base is not None and base.active is False:
        why = f"the product is inactive, so nobody can buy it; otherwise {why}"
    return CustomerPrice(vendor, sku, price, base_price, None if base is None else base.active, why, rows)


def promoted(subtype: str, value: Decimal, base: Decimal | None) -> Decimal | None:
    """The price that a discount makes of a base price, cut after three decimals; None where it is not known."""
    if subtype == "FINAL_PRICE":
        return value
    if base is None:
        return None
    off = value if subtype == "ABSOLUTE" else base * value / 100
    return (base - off).quantize(_THOUSANDTH, ROUND_DOWN)


def _verdict(base: Decimal | None, promotion: dict[str, Any] | None) -> tuple[Decimal | None, str]:
    if promotion is None:
        if base is None:
            return None, "the platform has acknowledged no price of this SKU, and no promotion covers it"
        return base, f"no promotion covers it: the base price {_plain(base)} as the platform acknowledged it"
    named = f"promotion {promotion['name']} (campaign {promotion['campaign']}) from {promotion['start_time']:%Y-%m-%d %H:%M} to {promotion['end_time']:%Y-%m-%d %H:%M} UTC"
    price: Decimal | None = promotion["price"]
    if price is None:
        return None, f"{named} applies, and the base price it is taken off is not known"
    if base is not None and price >= base:
        return base, f"{named} is not below the base price {_plain(base)} any more, so nothing is struck through"
    return price, f"{named} makes {_plain(price)} of the base price {'(unknown)' if base is None else _plain(base)}"


def _plain(amount: Decimal) -> str:
    return f"{amount.normalize():f}"
