"""A SKU's timeline has everything that happened to it, and nothing else."""

from __future__ import annotations

import datetime as dt

import pytest

A = {"barcodes": [], "title": "A", "price": 9.99, "active": True}
HOUR = dt.timedelta(hours=1)


def _shelf(world, *skus):
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in skus])
    for sku in skus:
        world.erp.put("store-001", sku, "3.99")
    world.sync("full")


def _events(world, step, sku="a", **asked):
    return [event for event in world.app.explain("store-001", sku, **asked).events if event.step == step]


@pytest.mark.slow
def test_the_timeline_of_a_change_begins_with_the_extract(world):
    _shelf(world, "a")
    world.erp.put("store-001", "a", "3.49")
    world.sync("delta")
    events = world.app.explain("store-001", "a").events
    assert [event.step for event in events] == ["diff", "deliver", "confirm"] * 2
    first, second = _events(world, "diff")
    assert first.message == "wanted, not acknowledged before (run 1 read the ERP)"
    assert second.message == "the wanted values differ from the acknowledged ones (run 2 read the ERP)"
    assert str(second.values.price) == "3.490"
    assert [(first.at,), (second.at,)] == world.rows("SELECT read_at FROM ledger.extract ORDER BY extract_id")
    world.sync("full")
    assert len(_events(world, "diff")) == 2, "a full sync repeats what did not change"


@pytest.mark.slow
def test_a_sku_that_left_the_erp_is_no_longer_wanted(world):
    _shelf(world, "a", "b")
    world.erp.execute("DELETE FROM stock WHERE sku = 'a'")
    world.sync("delta")
    assert _events(world, "diff")[-1].message == "no longer wanted, because it left the ERP (run 2 read the ERP)"


@pytest.mark.slow
def test_a_sku_that_disappears_from_exports_and_returns_has_one_event_for_each(world):
    _shelf(world, "a", "b")
    for number, skus in enumerate(("ab", "b", "b", "ab")):
        world.platform.put_products("store-001", [{**A, "sku": sku, "price": 3.99} for sku in skus])
        world.app.export(f"test/{number}", (), progress=lambda *_: None)
    assert [event.message for event in _events(world, "observe")] == [
        "the platform showed this",
        "the platform no longer showed it",
        "the platform showed this",
    ]
    assert [event.message for event in _events(world, "observe", "b")] == ["the platform showed this"]
    asked = world.rows("SELECT observed_at FROM warehouse.observation ORDER BY 1")
    assert _events(world, "observe")[1].at == asked[1][0]


@pytest.mark.slow
def test_a_price_that_an_export_shows_changed_is_no_removal(world):
    _shelf(world, "a")
    for price in (3.99, 4.99):
        world.platform.put_products("store-001", [{**A, "sku": "a", "price": price}])
        world.app.export(f"test/{price}", (), progress=lambda *_: None)
    assert [event.message for event in _events(world, "observe")] == ["the platform showed this"] * 2


@pytest.mark.slow
def test_a_restoration_and_its_end_are_events_of_its_skus(world):
    _shelf(world, "a", "b")
    then = world.app.explain("store-001", "a").at
    order = {"at": then, "span": HOUR, "skus": ["a"], "why": "till mistake", "who": "ada", "dry_run": False}
    world.app.restore("store-001", **order)
    (begun,) = _events(world, "restore")
    assert begun.message.startswith(f"ada ordered restoration 1 (as of {then:%Y-%m-%d %H:%M:%S} UTC, until ")
    assert begun.message.endswith("): till mistake")
    world.app.end_restoration("store-001", who="bob")
    assert [event.message for event in _events(world, "restore")][1:] == [
        "bob ended restoration 1: the ERP's values apply again"
    ]
    assert _events(world, "restore", "b") == []
    assert _events(world, "restore", at=then) == []
