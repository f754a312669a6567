"""The promotions of a small ERP: a table beside the stock of `small_erp`, as a campaign tool would write it."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from small_erp import SmallErp

SQL = "SELECT * FROM promotion"
COLUMNS = (
    "campaign", "vendor", "sku", "price", "discount_type", "name", "reason", "start_time", "end_time", "type", "purchased_quantity",
    "discounted_quantity", "pieces", "max_quantity", "max_discount_per_order", "max_items_per_order", "base_price", "cost", "overlap", "audience", "condition",
)  # fmt: skip
HOUR = dt.timedelta(hours=1)


class PromotionErp:
    """Rows of campaigns; times are given in hours from `now`."""

    def __init__(self, erp: SmallErp, now: dt.datetime) -> None:
        self._erp = erp
        self.now = now.replace(microsecond=0)
        erp.execute(f"CREATE TABLE IF NOT EXISTS promotion ({', '.join(f'{name} TEXT' for name in COLUMNS)})")

    def put(
        self,
        campaign: str,
        sku: str,
        price: Any,
        *,
        vendor: str | None = "store-001",
        start: float = -1,
        end: float = 24,
        **more: Any,
    ) -> None:
        """One row; an earlier one of the same campaign, vendor and SKU is gone."""
        row = {
            "campaign": campaign,
            "vendor": vendor,
            "sku": sku,
            "price": str(price),
            "name": more.pop("name", f"Offer {campaign}"),
            "start_time": self.at(start),
            "end_time": self.at(end),
            **more,
        }
        if isinstance(row["name"], dict):
            row["name"] = json.dumps(row["name"])
        self.drop(campaign, sku, vendor)
        values = [row.get(name) for name in COLUMNS]
        self._erp.execute(f"INSERT INTO promotion VALUES ({', '.join('?' for _ in COLUMNS)})", *values)

    def drop(self, campaign: str, sku: str | None = None, vendor: str | None = None) -> None:
        """A campaign, or one SKU of it, or that at one vendor, is no longer wanted."""
        where, values = "campaign = ?", [campaign]
        if sku is not None:
            where, values = f"{where} AND sku = ?", [*values, sku]
        if vendor is not None:
            where, values = f"{where} AND vendor = ?", [*values, vendor]
        self._erp.execute(f"DELETE FROM promotion WHERE {where}", *values)

    def change(self, campaign: str, **values: Any) -> None:
        """The same columns of all rows of a campaign."""
        for name, value in values.items():
            self._erp.execute(f"UPDATE promotion SET {name} = ? WHERE campaign = ?", value, campaign)

    def at(self, hours: float) -> str:
        """So many hours from now, as the ERP writes it."""
        return (self.now + hours * HOUR).isoformat()
