"""Buffers that nobody has told: learned from what was sent and what a picture shows, used only when asked."""

from __future__ import annotations

import itertools

import pytest

SKUS = ("a", "b", "c")
A = {"barcodes": [], "title": "A", "price": 1.0, "active": True, "sales_buffer": 5}
_keys = itertools.count(1)


@pytest.fixture
def make_shelf(make_world):
    def make(spare):
        world = make_world(effect={"spare": spare}, drift={"propagation_s": 0.0})
        world.platform.put_products("store-001", [{**A, "sku": sku} for sku in SKUS])
        for sku, pieces in zip(SKUS, (10, 8, 2), strict=True):
            world.erp.put("store-001", sku, "1.00", pieces)
        world.sync("full")
        picture(world)
        return world

    return make


def picture(world):
    return world.house.export(f"test/{next(_keys)}", ("store-001",), tell=lambda *_: None)


def intervals(world):
    (path,) = world.rows("SELECT intervals_path FROM ledger.vendor")[0]
    return [tuple(row.values()) for row in world.house.parts.lake.read_table(path).to_pylist()]


def test_a_picture_of_what_was_told_betrays_where_the_buffers_lie(make_shelf):
    shelf = make_shelf("known")
    assert intervals(shelf) == [("a", None, 10), ("b", None, 8), ("c", 2, None)]
    shelf.erp.put("store-001", "a", "1.00", 6)
    shelf.erp.put("store-001", "b", "1.00", 3)
    assert shelf.sync("delta")["sent"] == 2, "it was learned, and nobody asked for it to be used"
    picture(shelf)
    assert intervals(shelf) == [("a", None, 6), ("b", 3, 8), ("c", 2, None)]


def test_when_asked_a_quantity_on_a_side_that_was_seen_is_spared_and_one_between_is_sent(make_shelf):
    shelf = make_shelf("learned")
    shelf.erp.put("store-001", "a", "1.00", 12)
    shelf.erp.put("store-001", "c", "1.00", 1)
    assert shelf.sync("delta")["sent"] == 0
    assert {sku: row["active"] for sku, row in shelf.shown().items()} == {"a": True, "b": True, "c": False}
    shelf.erp.put("store-001", "b", "1.00", 4)
    shelf.erp.put("store-001", "c", "1.00", 5)
    shelf.sync("delta")
    assert {sku: row["active"] for sku, row in shelf.shown().items()} == {"a": True, "b": False, "c": True}


def test_a_product_that_was_switched_off_by_hand_teaches_nothing_wrong(make_shelf):
    shelf = make_shelf("known")
    shown = [{name: value for name, value in row.items() if name != "app"} for row in shelf.shown().values()]
    shelf.platform.put_products("store-001", [{**row, "active": row["sku"] == "b"} for row in shown])
    picture(shelf)
    assert intervals(shelf) == [("a", None, 10), ("b", None, 8), ("c", 2, None)]


def test_a_job_that_the_picture_cannot_show_yet_teaches_nothing(make_world, make_shelf):
    shelf = make_shelf("known")
    late = make_world(drift={"propagation_s": 3600.0})
    late.erp.put("store-001", "a", "1.00", 6)
    late.sync("delta")
    picture(late)
    assert intervals(shelf) == [("a", None, 10), ("b", None, 8), ("c", 2, None)]


def test_the_same_picture_again_writes_nothing(make_shelf):
    shelf = make_shelf("known")
    before = shelf.rows("SELECT intervals_path FROM ledger.vendor")
    picture(shelf)
    assert shelf.rows("SELECT intervals_path FROM ledger.vendor") == before
