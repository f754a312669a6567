"""What a store learns of a customer: only what it needs for this order, and nothing once the order is over."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from shelfsync.orders.order_state import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shelfsync.orders.order_state import OrderState

_NAMES = ("first_name", "last_name", "name")


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
