"""Campaigns of the sample ERP, and the promotions that the platform makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from installation.installed import CHAIN

if TYPE_CHECKING:
    from installation.installed import Installation


def add(installation: Installation, code: str, vendor: str, prices: dict[str, str]) -> None:
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
            SELECT campaign.campaign_id, product.product_id, CAST(%(price)s AS numeric)
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
    return len([one for one in found if one["name"] == name and one["state"] in {"ACTIVE", "SCHEDULED"}])
