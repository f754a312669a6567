"""Customers' orders: placed and read at the sandbox, and what the warehouse keeps of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from installation.installed import CHAIN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from installation.installed import Installation

PAGE = 500


def place(installation: Installation, vendor: str, sku: str, quantity: int = 1) -> str:
    """A customer orders; the order's number."""
    path = f"/chains/{CHAIN}/vendors/{vendor}/orders"
    return str(installation.sandbox("POST", path, {"items": [{"sku": sku, "quantity": quantity}]})["order_id"])


def states(installation: Installation) -> dict[str, str]:
    """Every order of the chain with its state at the platform."""
    found: dict[str, str] = {}
    while True:
        page = installation.sandbox("GET", f"/chains/{CHAIN}/orders?offset={len(found)}&limit={PAGE}")
        found |= {order["order_id"]: order["status"].upper() for order in page["orders"]}
        if not page["orders"] or len(found) >= page["total"]:
            return found


def state(installation: Installation, order: str) -> str:
    return states(installation)[order]


def archived(installation: Installation, wanted: Iterable[str]) -> dict[str, str]:
    """Those of the wanted orders that the warehouse has, with their state there."""
    query = "SELECT order_id, status FROM warehouse.customer_order WHERE order_id::text = ANY(%(wanted)s)"
    rows = installation.rows(query, wanted=list(wanted))
    return {str(row["order_id"]): row["status"].upper() for row in rows}
