"""Everything that happened to a SKU stands in its timeline, and nothing that did not."""

from __future__ import annotations

import datetime as dt

A = {"barcodes": [], "title": "A", "price": 9.99, "active": True}
HOUR = dt.timedelta(hours=1)


def _shelf(world, *skus):
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in skus])
    for sku in skus:
        world.erp.put("store-001", sku, "3.99")
    world.sync("full")


def _told(world, step, sku="a", **asked):
    return [event for event in world.house.explain("store-001", sku, **asked).events if event.step == step]


def test_a_change_is_told_from_the_reading_of_the_erp_on(world):
    _shelf(world, "a")
    world.erp.put("store-001", "a", "3.49")
    world.sync("delta")
    events = world.house.explain("store-001", "a").events
    assert [event.step for event in events] == ["diff", "deliver", "confirm"] * 2
    first, second = _told(world, "diff")
    assert first.said == "wanted, and never acknowledged before, as the ERP was read by run 1"
    assert second.said == "wanted otherwise than acknowledged, as the ERP was read by run 2"
    assert str(second.values.price) == "3.490"
    assert [(first.at,), (second.at,)] == world.rows("SELECT read_at FROM ledger.extract ORDER BY extract_id")
    world.sync("full")
    assert len(_told(world, "diff")) == 2, "a full sync repeats what did not change"


def test_a_sku_that_left_the_erp_is_told_as_no_more_wanted(world):
    _shelf(world, "a", "b")
    world.erp.execute("DELETE FROM stock WHERE sku = 'a'")
    world.sync("delta")
    assert _told(world, "diff")[-1].said == "no more wanted, for it had left the ERP, as the ERP was read by run 2"


def test_a_sku_that_an_export_does_not_have_any_more_is_told_so_once_and_its_coming_back_too(world):
    _shelf(world, "a", "b")
    for number, skus in enumerate(("ab", "b", "b", "ab")):
        world.platform.put_products("store-001", [{**A, "sku": sku, "price": 3.99} for sku in skus])
        world.house.export(f"test/{number}", (), tell=lambda *_: None)
    assert [event.said for event in _told(world, "observe")] == [
        "the platform was seen to show this",
        "the platform showed it no more",
        "the platform was seen to show this",
    ]
    assert [event.said for event in _told(world, "observe", "b")] == ["the platform was seen to show this"]
    asked = world.rows("SELECT observed_at FROM warehouse.observation ORDER BY 1")
    assert _told(world, "observe")[1].at == asked[1][0]


def test_a_price_that_an_export_showed_changed_did_not_leave_the_shelf(world):
    _shelf(world, "a")
    for price in (3.99, 4.99):
        world.platform.put_products("store-001", [{**A, "sku": "a", "price": price}])
        world.house.export(f"test/{price}", (), tell=lambda *_: None)
    assert [event.said for event in _told(world, "observe")] == ["the platform was seen to show this"] * 2


def test_a_restoration_and_its_end_are_told_of_the_skus_it_names(world):
    _shelf(world, "a", "b")
    then = world.house.explain("store-001", "a").at
    order = {"at": then, "span": HOUR, "skus": ["a"], "why": "till mistake", "who": "ada", "dry_run": False}
    world.house.restore("store-001", **order)
    (begun,) = _told(world, "restore")
    assert begun.said.startswith(f"restoration 1: wanted as of {then:%Y-%m-%d %H:%M:%S}, until ")
    assert begun.said.endswith(", by ada: till mistake")
    world.house.end_restoration("store-001", who="bob")
    assert [event.said for event in _told(world, "restore")][1:] == [
        "restoration 1 was ended by bob: the ERP counts again"
    ]
    assert _told(world, "restore", "b") == []
    assert _told(world, "restore", at=then) == []
