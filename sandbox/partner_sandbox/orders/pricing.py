"""Quantities, weights and prices: what the catalog has of a SKU, and what a partner may change (interface.md 4.8.4, 4.8.5, 4.8.7, 4.8.8)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, bindparam, text

from partner_sandbox import money
from partner_sandbox.catalog.products import show_due
from partner_sandbox.money import total_milli
from partner_sandbox.orders.payload import VALIDATION_ERROR, CartError, SentPricing
from partner_sandbox.orders.store import Pricing

DEFAULT_BASE_G = 1000
BY_WEIGHT = "4.8.5"
MOST_OF_UNLIMITED = 2
"""An item without a sales limit may reach this multiple of the ordered quantity."""
_SOME = text("""
    SELECT sku, title, is_sold_by_weight, details, price_milli, app_price_milli, app_active, app_sales_limit,
        (SELECT barcode FROM barcode WHERE barcode.product_id = product.id ORDER BY position LIMIT 1) AS barcode
    FROM product WHERE vendor_key = :vendor AND sku IN :skus
""").bindparams(bindparam("skus", expanding=True))


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
    barcode: str | None = None
    image_url: str | None = None

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


def find_goods(connection: Connection, vendor_key: int, skus: Iterable[str], now_us: int) -> dict[str, Good]:
    """Those of the SKUs that the vendor has."""
    show_due(connection, now_us)
    rows = connection.execute(_SOME, {"vendor": vendor_key, "skus": sorted(set(skus))}).mappings()
    return {row["sku"]: _good(dict(row)) for row in rows}


def _good(row: dict[str, Any]) -> Good:
    details = json.loads(row["details"])
    return Good(
        sku=row["sku"],
        name=row["title"],
        by_weight=bool(row["is_sold_by_weight"]),
        base_g=_base_g(details),
        price_milli=row["price_milli"] or 0,
        app_price_milli=row["app_price_milli"],
        app_active=bool(row["app_active"]),
        app_sales_limit=row["app_sales_limit"],
        barcode=row["barcode"],
        image_url=next(iter(details.get("images") or ()), None),
    )


def _base_g(details: dict[str, Any]) -> int:
    weight = details.get("weight_specifications") or {}
    base = weight.get("base_weight")
    if not base:
        return DEFAULT_BASE_G
    return max(1, int(Decimal(str(base)) * (1000 if weight.get("base_weight_unit", "KG") == "KG" else 1)))


def changed(where: str, held: Pricing, sent: SentPricing | None, *, weighing: bool) -> Pricing:
    """The pricing after a change; an unchanged value counts as no change. CartError for a change that is not allowed."""
    if sent is None:
        return held
    if sent.pricing_type is not None and sent.pricing_type != held.pricing_type:
        raise _error(f"{where}.pricing_type", f"is {held.pricing_type} and cannot be changed")
    if held.pricing_type == "KG":
        return _weighed(where, held, sent, weighing=weighing)
    return _counted(where, held, sent)


def whole(where: str, value: Decimal) -> int:
    """A number of pieces."""
    if value != value.to_integral_value():
        raise _error(where, "must be a whole number of pieces")
    return int(value)


def grams(weight: Decimal) -> int:
    """A weight in kilograms, cut to grams."""
    return money.cut(weight)


def _counted(where: str, held: Pricing, sent: SentPricing) -> Pricing:
    if sent.weight:  # 0 counts as absent: a client always sends it (field notes)
        raise _error(f"{where}.weight", "is for items priced by KG only")
    quantity = held.quantity if sent.quantity is None else whole(f"{where}.quantity", sent.quantity)
    if not held.least <= quantity <= held.most and quantity != held.quantity:
        raise _error(f"{where}.quantity", f"must be from {held.least} to {held.most}")
    unit_milli = held.unit_price_milli if sent.unit_price is None else money.cut(sent.unit_price)
    if unit_milli > held.unit_price_milli:
        raise _error(f"{where}.unit_price", "can only be decreased")
    as_held = {held.total_price_milli, total_milli("UNIT", held.unit_price_milli, quantity, None)}
    sent_total_milli = None if sent.total_price is None else money.cut(sent.total_price)
    total_changed = sent_total_milli is not None and sent_total_milli not in as_held
    if total_changed and unit_milli != held.unit_price_milli:
        raise _error(where, "either unit_price or total_price may be changed, not both")
    if total_changed:
        total = sent_total_milli
    elif (quantity, unit_milli) == (held.quantity, held.unit_price_milli):
        total = held.total_price_milli
    else:
        total = total_milli("UNIT", unit_milli, quantity, None)
    return held.model_copy(update={"quantity": quantity, "unit_price_milli": unit_milli, "total_price_milli": total})


def _weighed(where: str, held: Pricing, sent: SentPricing, *, weighing: bool) -> Pricing:
    if sent.quantity is not None and sent.quantity != held.quantity:
        raise _weight_error(f"{where}.quantity", f"stays {held.quantity} for items priced by KG; send weight")
    if sent.unit_price is not None and money.cut(sent.unit_price) != held.unit_price_milli:
        raise _weight_error(
            f"{where}.unit_price", "cannot be changed for items priced by KG: the price follows the weight"
        )
    weight_g = held.weight_g if sent.weight is None else grams(sent.weight)
    if weight_g != held.weight_g:
        if not weighing:
            raise _weight_error(
                f"{where}.weight", "weighted items are not enabled for this partner", choice="order_weighing"
            )
        if weight_g is None or not held.least <= weight_g <= held.most:
            raise _weight_error(f"{where}.weight", f"must be from {held.least / 1000:g} to {held.most / 1000:g}")
    total = total_milli("KG", held.unit_price_milli, 1, weight_g)
    if sent.total_price is not None and money.cut(sent.total_price) not in {held.total_price_milli, total}:
        raise _weight_error(
            f"{where}.total_price", "cannot be changed for items priced by KG: the price follows the weight"
        )
    return held.model_copy(update={"weight_g": weight_g, "total_price_milli": total})


def _error(where: str, problem: str, *, rule: str = "4.8.4", choice: str | None = None) -> CartError:
    return CartError(VALIDATION_ERROR, where, problem, rule=rule, choice=choice)


def _weight_error(where: str, problem: str, *, choice: str | None = None) -> CartError:
    return _error(where, problem, rule=BY_WEIGHT, choice=choice)
