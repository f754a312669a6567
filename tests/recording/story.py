"""What was going on when a ledger was recorded; the same words make its ERP and its platform again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

LEDGERS = Path(__file__).parent / "ledgers"
CHAIN = "demo-chain"
SETTLED, IN_FLIGHT, PLANNED = "store-001", "store-002", "store-003"
"""A store in step; one whose second request has left and is not confirmed; one whose second request is planned."""
SKUS = ("apple", "bread", "cheese", "ghost")
GHOST = "ghost"
"""A SKU that the platform does not know, and refuses."""
SCHEMAS = ("ledger", "inbox", "warehouse")
PASSED_OVER = {"ledger.token", "ledger.platform_check"}
"""What belongs to the platform of that day."""


def furnish(platform: Any, erp: Any) -> None:
    """Three stores, of each a SKU unknown to the platform, and a row that cannot be sent."""
    for vendor in (SETTLED, IN_FLIGHT, PLANNED):
        shown = [{"sku": sku, "title": sku, "price": 9.99, "active": True} for sku in SKUS if sku != GHOST]
        platform.put_products(vendor, shown)
        for number, sku in enumerate(SKUS, 1):
            erp.put(vendor, sku, f"{number}.00", 10, 1)
        erp.put(vendor, "broken", "minus one", 10, 1)


def change(erp: Any) -> None:
    """The ERP of the moment of the recording."""
    for vendor in (IN_FLIGHT, PLANNED):
        erp.put(vendor, "apple", "1.10", 10, 1)
        erp.put(vendor, "bread", "2.00", 0, 0)


def live(house: Any, platform: Any, erp: Any) -> None:
    """The first full sync, and a delta run that its process did not live to finish."""
    furnish(platform, erp)
    house.sync(house.open_run("full", "recorded/full"), dry_run=False, tell=lambda *_: None)
    change(erp)
    run_id = house.open_run("delta", "recorded/delta")
    vendors = [vendor for shard in house.extract(run_id) for vendor in shard["vendors"]]
    for word in ("normalise", "diff", "guard", "batch"):
        house.step(word, run_id, vendors)
    house.step("deliver", run_id, [SETTLED, IN_FLIGHT])
