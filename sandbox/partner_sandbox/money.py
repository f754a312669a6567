"""Prices: exact decimals, cut after the third one, kept as whole thousandths (interface.md 2.1, 8)."""

from __future__ import annotations

from decimal import ROUND_DOWN, Context, Decimal

PRICE_MILLI_MAX = 10**15
_DOWN = Context(rounding=ROUND_DOWN)
"""A price of more digits than a context holds must not be rounded up either."""


def cut(price: Decimal | int) -> int:
    """Thousandths of a price, the rest cut off: 4.5555 -> 4555, -0.0004 -> 0. At most PRICE_MILLI_MAX in size, else OverflowError."""
    exact = Decimal(price)
    if not exact.is_finite() or exact.adjusted() > 14:
        raise OverflowError(str(price))
    return int(_DOWN.multiply(exact, 1000))


def text(price_milli: int) -> str:
    """With three decimals: 4555 -> "4.555"."""
    sign = "-" if price_milli < 0 else ""
    return f"{sign}{abs(price_milli) // 1000}.{abs(price_milli) % 1000:03d}"


def number(price_milli: int | None) -> float | None:
    """As a JSON number; exact as printed, for a price has at most 15 digits."""
    return None if price_milli is None else price_milli / 1000


def total_milli(pricing_type: str, unit_price_milli: int, quantity: int, weight_g: int | None) -> int:
    """Price per piece times pieces, or per kilogram times weight, rounded half up to a thousandth."""
    if pricing_type == "UNIT":
        return unit_price_milli * quantity
    return (unit_price_milli * (weight_g or 0) + 500) // 1000


def discounted_milli(subtype: str, value_milli: int, price_milli: int | None) -> int | None:
    """The price after the discount, cut to thousandths; None where it would not be above zero and below the price."""
    if price_milli is None:
        return None
    if subtype == "FINAL_PRICE":
        price = value_milli
    elif subtype == "ABSOLUTE":
        price = price_milli - value_milli
    else:  # 100,000 thousandths of a per cent are the whole
        price = price_milli * (100_000 - value_milli) // 100_000
    free = subtype == "PERCENTAGE" and value_milli == 100_000
    return price if (price > 0 or free) and price < price_milli else None
