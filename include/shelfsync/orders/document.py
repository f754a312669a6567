"""What a store is told of an order: what to pick, for when; of the customer only what this store needs to know."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from shelfsync.orders.reading import as_json
from shelfsync.orders.request import fulfilment

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

    from partner_api.models.order import OrderItem
    from shelfsync.orders.state import OrderState

_NAMES = ("first_name", "last_name", "name")


def document(order: OrderState, kind: str, hand_over_id: int, customer: Mapping[str, Any]) -> dict[str, Any]:
    """`kind`: new or cancelled. `customer`: what `needed` left of the personal part; empty: nobody is told."""
    told: dict[str, Any] = {
        "hand_over_id": hand_over_id,
        "kind": kind,
        "order_id": order.order_id,
        "order_code": order.order_code,
        "external_order_id": order.external_order_id,
        "vendor": order.vendor,
        "status": order.status,
        "transport_type": order.transport_type,
        "order_type": order.order_type,
        "promised_for": _instant(order.promised_for),
        "accepted_for": _instant(order.accepted_for),
        "placed_at": _instant(order.placed_at),
        "fulfilled_with": fulfilment(order),
        "order_total": order.order_total,
        "items": [_item(item) for item in order.items],
    }
    return told | ({"customer": dict(customer)} if customer else {})


def without_customer(text: str) -> str | None:
    """A document as it was written, without its customer; None when it has none."""
    told = json.loads(text, parse_float=Decimal)
    return as_json({name: value for name, value in told.items() if name != "customer"}) if "customer" in told else None


def needed(order: OrderState, personal: Mapping[str, Any]) -> dict[str, Any]:
    """What this store has to know: everything where it delivers, a name where the customer collects, otherwise the wishes alone."""
    if order.order_type == "PICKUP":
        customer = personal.get("customer")
        named = customer if isinstance(customer, dict) else {}
        told = {name: named[name] for name in _NAMES if named.get(name)}
        chosen: dict[str, Any] = {"customer": told} if told else {}
    elif order.transport_type == "VENDOR_DELIVERY":
        chosen = {name: personal[name] for name in ("customer", "delivery_address", "address") if personal.get(name)}
    else:
        chosen = {}
    wishes = {name: personal[name] for name in ("comment", "replacement_preferences") if personal.get(name)}
    return chosen | wishes


def _item(item: OrderItem) -> dict[str, Any]:
    pricing = item.pricing
    return {
        "item_id": item.item_id,
        "sku": item.sku,
        "name": item.name,
        "status": item.status,
        "pricing_type": pricing.pricing_type,
        "quantity": pricing.quantity,
        "weight": pricing.weight,
        "min_quantity": pricing.min_quantity,
        "max_quantity": pricing.max_quantity,
        "unit_price": pricing.unit_price,
        "total_price": pricing.total_price,
    }


def _instant(value: dt.datetime | None) -> str | None:
    return None if value is None else value.isoformat().replace("+00:00", "Z")
