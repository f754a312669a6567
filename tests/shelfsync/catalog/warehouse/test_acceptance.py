"""What the platform accepted of a store's last SKUs."""

from __future__ import annotations

import pytest

from shelfsync.catalog.warehouse.acceptance import acceptance

PRODUCT = {"barcodes": [], "title": "A", "price": 9.99, "active": True}


@pytest.mark.slow
def test_a_store_is_judged_by_its_last_skus_and_new_ones_that_are_rejected_do_not_count(world):
    world.platform.put_products("store-001", [{**PRODUCT, "sku": sku} for sku in "ab"])
    for sku in "abc":
        world.erp.put("store-001", sku, "2.00")
    assert world.sync("full")["rejected"] == 1

    def judged(skus):
        with world.app.context.engine.connect() as connection:
            return [tuple(one) for one in acceptance(connection, skus=skus, hours=24)]

    assert judged(2) == [("store-001", 2, 2)]
    assert judged(3) == [], "it has too few results"
