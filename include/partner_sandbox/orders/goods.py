"""The catalog's data of the SKUs that a cart names, active or not (interface.md 4.8.7, 4.8.8)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, text

from partner_sandbox.catalog.propagation import show_due
from partner_sandbox.orders.order import Pricing, total_milli

DEFAULT_BASE_G = 1000
MOST_OF_UNLIMITED = 2
"""An item without a sales limit may reach this multiple of the ordered quantity."""
_SOME = text("""
    SELECT sku, title, is_sold_by_weight, details, price_milli, app_price_milli, app_active, app_sales_limit
    FROM product WHERE vendor_key = :vendor AND sku IN (SELECT value FROM json_each(:skus))
""")


@dataclass(frozen=True)
class Good:
    """One product of the vendor."""

    sku: str
    name: str
    by_weight: bool
    base_g: int
    price_milli: int
    """The catalog price, zero where it has none."""
    app_price_milli: int | None
    app_active: bool
    app_sales_limit: int | None

    def pricing(
        self, quantity: int, weight_g: int | None, *, unit_milli: int | None = None, list_milli: int | None = None
    ) -> Pricing:
        """The pricing of so much of it. Bounds: the sales limit or twice the requested quantity; half to one and a half of the weight."""
        unit = self.price_milli if unit_milli is None else unit_milli
        kind = "KG" if self.by_weight else "UNIT"
        weight_g = (self.base_g if weight_g is None else weight_g) if self.by_weight else None
        if weight_g is not None:
            least, most = (weight_g + 1) // 2, weight_g * 3 // 2
        else:
            least = min(1, quantity)
            most = max(quantity, self.app_sales_limit or quantity * MOST_OF_UNLIMITED)
        return Pricing(
            pricing_type=kind,
            quantity=1 if self.by_weight else quantity,
            weight_g=weight_g,
            unit_price_milli=unit,
            total_price_milli=total_milli(kind, unit, quantity, weight_g),
            list_price_milli=self.price_milli if list_milli is None else list_milli,
            least=least,
            most=most,
        )


def find(connection: Connection, vendor_key: int, skus: Iterable[str], now_us: int) -> dict[str, Good]:
    """Those of the SKUs that the vendor has."""
    show_due(connection, now_us)
    rows = connection.execute(_SOME, {"vendor": vendor_key, "skus": json.dumps(sorted(set(skus)))}).mappings()
    return {row["sku"]: _good(dict(row)) for row in rows}


def _good(row: dict[str, Any]) -> Good:
    return Good(
        sku=row["sku"],
        name=row["title"],
        by_weight=bool(row["is_sold_by_weight"]),
        base_g=_base_g(json.loads(row["details"])),
        price_milli=row["price_milli"] or 0,
        app_price_milli=row["app_price_milli"],
        app_active=bool(row["app_active"]),
        app_sales_limit=row["app_sales_limit"],
    )


def _base_g(details: dict[str, Any]) -> int:
    weight = details.get("weight_specifications") or {}
    base = weight.get("base_weight")
    if not base:
        return DEFAULT_BASE_G
    return max(1, int(Decimal(str(base)) * (1000 if weight.get("base_weight_unit", "KG") == "KG" else 1)))
