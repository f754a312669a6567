"""Campaigns of the sample ERP, and the promotions that the platform makes of them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from installation import shelf
from installation.installed import CHAIN

if TYPE_CHECKING:
    from installation.installed import Installation

LEFT = Decimal("0.8")


def add(installation: Installation, code: str, vendor: str, skus: list[str]) -> None:
    """A campaign of one store for some hours, a fifth off each product: no guard holds that."""
    installation.erp(
        """
        INSERT INTO erp.campaign (code, name, store_id, starts_at, ends_at)
        SELECT %(code)s, %(name)s, store_id, date_trunc('minute', now()) - interval '1 hour', date_trunc('hour', now()) + interval '9 hours'
        FROM erp.store WHERE store.code = %(vendor)s
        """,
        code=code, name=f"Offer {code}", vendor=vendor,
    )  # fmt: skip
    rows = shelf.erp_rows(installation)
    for sku in skus:
        installation.erp(
            """
            INSERT INTO erp.campaign_price (campaign_id, product_id, amount)
            SELECT campaign.campaign_id, product.product_id, round(CAST(%(price)s AS numeric), 2)
            FROM erp.campaign, erp.product WHERE campaign.code = %(code)s AND product.item_code = %(sku)s
            """,
            code=code, sku=sku, price=rows[vendor, sku]["price"] * LEFT,
        )  # fmt: skip


def end(installation: Installation, code: str) -> None:
    """The buyer takes a campaign back."""
    installation.erp("DELETE FROM erp.campaign WHERE code = %(code)s", code=code)


def in_force(installation: Installation, name: str) -> int:
    """How many promotions of this name customers get, or will get."""
    found = installation.sandbox("GET", f"/chains/{CHAIN}/promotions")["promotions"]
    return len([one for one in found if one["name"] == name and one["state"] in {"Running", "Upcoming"}])
