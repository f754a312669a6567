"""Campaigns of the sample ERP, and the promotions that the platform makes of them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from installation import shelf
from installation.installed import CHAIN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from installation.installed import Installation

LEFT = Decimal("0.8")


def reduced(installation: Installation, vendor: str, skus: list[str]) -> dict[str, Decimal]:
    """SKU -> a price that no guard holds."""
    rows = shelf.erp_rows(installation)
    return {sku: rows[vendor, sku]["price"] * LEFT for sku in skus}


def add(installation: Installation, code: str, vendor: str, prices: Mapping[str, Decimal]) -> None:
    """A campaign of one store for some hours: SKU -> what customers pay."""
    installation.erp(
        """
        INSERT INTO erp.campaign (code, name, store_id, starts_at, ends_at)
        SELECT %(code)s, %(name)s, store_id, date_trunc('minute', now()) - interval '1 hour', date_trunc('hour', now()) + interval '9 hours'
        FROM erp.store WHERE store.code = %(vendor)s
        """,
        code=code, name=f"Offer {code}", vendor=vendor,
    )  # fmt: skip
    for sku, price in prices.items():
        installation.erp(
            """
            INSERT INTO erp.campaign_price (campaign_id, product_id, amount)
            SELECT campaign.campaign_id, product.product_id, round(CAST(%(price)s AS numeric), 2)
            FROM erp.campaign, erp.product WHERE campaign.code = %(code)s AND product.item_code = %(sku)s
            """,
            code=code, sku=sku, price=price,
        )  # fmt: skip


def end(installation: Installation, code: str) -> None:
    """The buyer takes a campaign back."""
    installation.erp("DELETE FROM erp.campaign WHERE code = %(code)s", code=code)


def in_force(installation: Installation, name: str) -> int:
    """How many promotions of this name customers get, or will get."""
    found = installation.sandbox("GET", f"/chains/{CHAIN}/promotions")["promotions"]
    return len([one for one in found if one["name"] == name and one["state"] in {"Running", "Upcoming"}])
