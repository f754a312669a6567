"""What left the ERP and comes back, if the ERP has no statement about `active`."""

from __future__ import annotations

import pytest

A = {"barcodes": [], "title": "A", "price": 9.99, "active": True}
SKUS = tuple(f"p{number}" for number in range(8))


@pytest.mark.slow
def test_a_product_that_left_an_erp_without_the_column_active_is_on_sale_again_when_it_comes_back(make_world):
    world = make_world(erp={"sql": "SELECT vendor, sku, price, quantity FROM stock"})
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in SKUS])
    for sku in SKUS:
        world.erp.put("store-001", sku, "1.50", 10)
    world.sync("full")
    world.erp.execute("DELETE FROM stock WHERE sku = 'p1'")
    world.sync()
    assert world.shown()["p1"]["active"] is False
    world.erp.put("store-001", "p1", "1.50", 10)
    summary = world.sync()
    assert world.shown()["p1"]["active"] is True
    assert summary["counts"]["acknowledged"] == len(SKUS)
    assert world.sync()["sent"] == 0
    world.sync("full")
    assert world.shown()["p1"]["active"] is True
