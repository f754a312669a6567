"""Small orders in the platform's format, and a store's picking results."""

from __future__ import annotations

import copy
import datetime as dt
from typing import Any

from shelfsync.orders.order_state import OrderState, Source, Version, parse_version, state
from shelfsync.orders.picking_result import PickingResult, read

RECEIVED_AT = dt.datetime(2026, 3, 1, 13, tzinfo=dt.UTC)
ORDER_ID = "11111111-2222-4333-8444-555555555555"


def item(sku: str, number: int, **pricing: Any) -> dict[str, Any]:
    """`UNIT` unless a weight is given; ids by number."""
    from decimal import Decimal

    weighed = "weight" in pricing
    values = {
        "quantity": 1,
        "unit_price": Decimal("2.5"),
        "list_price": Decimal(3),
        "min_quantity": 1,
        "max_quantity": 4,
    }
    values |= {"pricing_type": "KG" if weighed else "UNIT", **pricing}
    if "total_price" not in values:
        values["total_price"] = values["unit_price"] * Decimal(str(values["weight"] if weighed else values["quantity"]))
    item_id = f"aaaaaaaa-0000-4000-8000-{number:012}"
    return {"_id": item_id, "sku": sku, "name": sku.title(), "status": "NOT_PROCESSED", "pricing": values}


def body(
    *items: dict[str, Any], status: str = "RECEIVED", at: str | None = "2026-03-01T10:00:00Z", **more: Any
) -> dict[str, Any]:
    sub_total = sum((one["pricing"]["total_price"] for one in items), 0)
    made: dict[str, Any] = {
        "order_id": ORDER_ID,
        "external_order_id": "store-001-77",
        "order_code": "0077",
        "status": status,
        "transport_type": "LOGISTICS_DELIVERY",
        "order_type": "DELIVERY",
        "promised_for": "2026-03-01T10:45:00Z",
        "client": {"id": "store-001", "store_id": "store-001"},
        "items": [copy.deepcopy(one) for one in items] or [item("MILK", 1)],
        "payment": {"sub_total": sub_total, "order_total": sub_total + 2},
        "sys": {"created_at": "2026-03-01T10:00:00Z"} | ({"updated_at": at} if at else {}),
    }
    return made | more


def version(raw: dict[str, Any], source: Source = "event", received_at: dt.datetime = RECEIVED_AT) -> Version:
    return parse_version(raw, source, received_at)[0]


def order(*items: dict[str, Any], **more: Any) -> OrderState:
    return state([version(body(*items, **more))])


def result(action: str = "fulfil", *lines: dict[str, Any], **more: Any) -> PickingResult:
    return read(ORDER_ID, {"action": action, "items": list(lines) or None, **more})
