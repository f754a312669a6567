"""The document that a store receives about an order: what to pick, the due time, and only the customer data it needs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from shelfsync.orders.order_state import as_json
from shelfsync.orders.request import fulfilment

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Mapping, Sequence

    from partner_api.order import OrderItem
    from shelfsync.orders.order_state import OrderState


_NAMES = ("first_name", "last_name", "name")


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


def without_customer(text: str) -> str | None:
    """A written document without its customer; None if it has no customer."""
    content = json.loads(text, parse_float=Decimal)
    return as_json({name: content[name] for name in content if name != "customer"}) if "customer" in content else None


def customer_for_store(order: OrderState, personal: Mapping[str, Any]) -> dict[str, Any]:
    """The personal data that this store needs: all if it delivers, the name if the customer collects; always the comments."""
    if order.order_type == "PICKUP":
        customer = personal.get("customer")
        named = customer if isinstance(customer, dict) else {}
        name_fields = {name: named[name] for name in _NAMES if named.get(name)}
        chosen: dict[str, Any] = {"customer": name_fields} if name_fields else {}
    elif order.transport_type == "VENDOR_DELIVERY":
        chosen = {name: personal[name] for name in ("customer", "delivery_address", "address") if personal.get(name)}
    else:
        chosen = {}
    notes = {name: personal[name] for name in ("comment", "replacement_preferences") if personal.get(name)}
    return chosen | notes


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


URL = "SHELFSYNC_ORDERS__HAND_OVER_URL"


@dataclass(frozen=True)
class Document:
    """A document for a store. `text`: JSON; it may hold customer data, so it is not in the repr."""

    hand_over_id: int
    order_id: str
    kind: str
    vendor: str
    text: str = field(repr=False)


class HandOverChannel(Protocol):
    """One channel. Every method may raise a ShelfsyncError and can be called again: a document is not written twice."""

    def write(self, document: Document) -> bool:
        """Makes the document visible to the store, durably; True if the store has taken it by that."""

    def taken(self, written: Sequence[tuple[int, str, str]]) -> Collection[int]:
        """The numbers that the stores have taken. `written`: (number, vendor, kind) of written documents."""

    def remove_customers(self, documents: Sequence[tuple[int, str, str]]) -> int:
        """Removes the customer from these (number, vendor, kind) where they still exist; returns how many had one."""

    def close(self) -> None:
        """Closes its connections."""
