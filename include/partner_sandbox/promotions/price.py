"""What a promotion makes of a price."""

from __future__ import annotations

from typing import Protocol


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
