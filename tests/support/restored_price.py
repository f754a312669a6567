"""A restoration of one of two SKUs: acknowledged at 5.18, then at 5.66, and an operator restores the first price for an hour."""

from __future__ import annotations

import datetime as dt
from typing import Any

WHY = "a mistake in the till"


def order_restoration(world: Any, **order: Any) -> dt.datetime:
    """Of SKU `a`, by ada; `order`: as `Calls.restore` takes it. Returns the instant of the state that is restored."""
    products = [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in ("a", "b")]
    world.platform.put_products("store-001", products)
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "5.18")
    world.sync("full")
    then: dt.datetime = world.app.explain("store-001", "a").at
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "5.66")
    world.sync("delta")
    order = {"span": dt.timedelta(hours=1), "skus": ["a"], "why": WHY, "who": "ada", "dry_run": False} | order
    world.app.restore("store-001", at=then, **order)
    return then
