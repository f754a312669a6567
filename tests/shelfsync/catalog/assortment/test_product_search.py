"""The search finds no more than asked for, goes on without names that cannot be read, and leaves no product of a store out."""

from __future__ import annotations

from pathlib import Path

import pytest

from shelfsync.catalog.assortment import product_search
from shelfsync.catalog.assortment.product_search import search
from shelfsync.catalog.ledger import vendors

SQL = "SELECT vendor, sku, price, quantity, 'Milk ' || substr(sku, 1, 1) AS name FROM stock"


@pytest.mark.slow
def test_names_that_cannot_be_read_leave_the_codes(make_world, monkeypatch):
    world = make_world(erp={"sql": SQL})
    for sku in ("p1", "p2", "q1"):
        world.erp.put("store-001", sku, "1.00")
    world.sync("full")
    context = world.app.context
    assert [one.sku for one in search(context, "p", "store-001")] == ["p1", "p2"]
    assert [(one.sku, one.name, one.stores) for one in search(context, "milk q")] == [("q1", "Milk q", 0)]
    assert [(one.sku, one.name, one.vendor) for one in search(context, "q1")] == [("q1", "Milk q", "store-001")], (
        "no export was read"
    )
    assert search(context, "1") == search(context, "") == [], "a code is found by its beginning"
    monkeypatch.setattr(product_search, "MOST", 1)
    assert [one.sku for one in search(context, "p", "store-001")] == ["p1"]
    with context.engine.connect() as connection:
        (Path(world.settings.lake) / vendors.names_path(connection, "store-001")).write_bytes(b"broken")
    assert search(context, "milk") == []
    assert [(one.sku, one.name) for one in search(context, "q", "store-001")] == [("q1", None)]
