"""The document that a store receives about an order: what to pick, the due time, and only the customer data it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync.orders.request import fulfilment

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

    from partner_api.order import OrderItem
    from shelfsync.orders.order_state import OrderState


def document(order: OrderState, kind: str, hand_over_id: int, customer: Mapping[str, Any]) -> dict[str, Any]:
    """The document as JSON values. `kind`: new or cancelled. `customer`: from `customer_for_store`; empty: no customer data."""
    content: dict[str, Any] = {
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
    return content | ({"customer": dict(customer)} if customer else {})


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
