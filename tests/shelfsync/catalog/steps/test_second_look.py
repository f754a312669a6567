"""A store whose values were accepted too late for an export is looked at once more."""

from __future__ import annotations

import datetime as dt

import pytest

from shelfsync.catalog.steps.second_look import later_look

PRODUCT = {"barcodes": [], "title": "A", "price": 9.99, "active": True}


@pytest.mark.slow
def test_only_the_store_with_a_value_that_is_too_young_is_looked_at_again_once_it_shows(make_world):
    world = make_world(drift={"propagation_s": 1800})
    for vendor in ("store-001", "store-002"):
        world.platform.put_products(vendor, [{**PRODUCT, "sku": sku} for sku in ("a", "b")])
        world.erp.put(vendor, "a", "1.00")
    world.sync("full")
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.job SET ended_at = ended_at - INTERVAL '1 hour'")
    world.platform.faults({"at": "job", "kind": "not_applied"})
    world.erp.put("store-002", "a", "2.00")
    world.sync("delta")
    before = dt.datetime.now(dt.UTC)
    world.app.export("test/export", (), progress=lambda *_: None)
    vendors, at = later_look(world.app.context, "test/export")
    assert vendors == ["store-002"]
    assert at - dt.timedelta(seconds=1800) >= before - dt.timedelta(seconds=1)
    assert later_look(world.app.context, "test/none")[0] == []
