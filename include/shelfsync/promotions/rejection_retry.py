"""When a pair that the platform rejected in a promotion is sent again: its base price is another, or its SKU is known now.

After SHELFSYNC_PROMOTIONS__RETRY_S it is sent again whatever it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal


def is_other_now(price: Decimal | None, price_then: Decimal | None, *, is_known: bool, was_known: bool) -> bool:
    """Whether a rejected pair may be accepted now.

    `price`: the base price of its SKU in the vendor's assortment, None if it is unknown. `is_known`: whether the assortment has the SKU.
    """
    return (is_known and not was_known) or (price is not None and price != price_then)
