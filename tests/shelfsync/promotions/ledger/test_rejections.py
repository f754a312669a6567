"""The pairs that the platform rejected."""

from __future__ import annotations

import pytest


@pytest.mark.slow
def test_each_pair_that_the_platform_rejects_is_recorded_and_not_sent_again(shop):
    shop.world.platform.put_products("store-002", [{"sku": "a", "title": "a", "price": 7.0, "active": True}])
    for sku in ("a", "b"):
        shop.erp.put("c1", sku, "8", vendor=None)
    summary = shop.sync()
    assert summary["pairs"] == {"sent": 6, "accepted": 4, "rejected": 2, "unaccounted": 0}
    rejected = shop.rows(
        "SELECT vendor, sku, reason FROM warehouse.promotion_outcome WHERE state = 'rejected' ORDER BY 2"
    )
    assert rejected == [("store-002", "a", "invalid discounted SKU"), ("store-002", "b", "missing SKU")]
    before = shop.puts()
    shop.sync()
    assert shop.puts() == before
    shop.erp.put("c1", "a", "6", vendor=None)
    shop.sync()
    assert shop.seen("store-002") == {"a": 6.0}
    assert shop.rows("SELECT sku FROM ledger.promotion_rejection") == [("b",)]
