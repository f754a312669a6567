"""One SKU's life, as the person on call asks for it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shelfsync.errors import DataError

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


@pytest.fixture
def shelf(world):
    """A vendor whose SKU `a` is acknowledged at 3.99."""
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "3.99")
    world.sync("full")
    return world


def _told(world, sku="a"):
    return world.house.explain("store-001", sku)


def test_a_sku_in_step_is_explained_by_the_job_that_brought_its_price(shelf):
    told = _told(shelf)
    assert "It shows 3.99 since" in told.sentence
    assert "run 1 (full" in told.sentence
    assert "job 1 and the platform said success" in told.sentence
    assert "The ERP says the same" in told.sentence
    assert [event.step for event in told.events] == ["diff", "deliver", "confirm"]


def test_a_price_that_is_repeated_stands_since_it_was_first_brought(shelf):
    first = _told(shelf).acknowledged.since
    shelf.sync("full")
    assert _told(shelf).acknowledged.since == first


def test_a_price_on_its_way_is_told_with_the_job_it_waits_for(shelf):
    shelf.erp.put("store-001", "a", "3.49")
    shelf.begin("delta", upto="deliver")
    told = _told(shelf)
    assert "It shows 3.99 since" in told.sentence
    assert "it will show 3.49 when job 2, sent at" in told.sentence


def test_a_refused_sku_is_told_with_the_platforms_words(shelf):
    shelf.erp.put("store-001", "nobody", "1.00")
    shelf.sync("delta")
    told = _told(shelf, "nobody")
    assert "never acknowledged" in told.sentence
    assert "the platform refused it" in told.sentence
    assert told.events[-1].said.startswith("the platform refused it")


def test_a_sku_that_is_rejected_after_a_job_that_failed_was_never_acknowledged(shelf):
    shelf.erp.put("store-001", "nobody", "1.00")
    shelf.platform.faults({"at": "job", "kind": "failed", "times": 1})
    shelf.sync("delta")
    doubted = _told(shelf, "nobody")
    assert "What it shows is not known since" in doubted.sentence
    assert "the platform reported the job as FAILED and left no log" in doubted.sentence
    shelf.sync("delta")
    told = _told(shelf, "nobody")
    assert "not known since" not in told.sentence
    assert told.sentence.startswith("The platform never acknowledged this SKU")
    assert "the platform refused it (1 times, last in job 3)" in told.sentence
    assert told.acknowledged is None
    assert _told(shelf, "a").acknowledged is not None
    assert "not known since" in shelf.house.explain("store-001", "nobody", at=doubted.at).sentence


def test_a_row_set_aside_is_told_with_what_is_wrong_with_it(shelf):
    shelf.erp.put("store-001", "a", "3,49")
    shelf.erp.put("store-001", "b", "1.00")
    shelf.sync("delta")
    told = _told(shelf)
    assert "set aside, as read at" in told.sentence
    assert 'price "3,49" has a comma' in told.sentence
    assert told.events[-1].step == "normalise"


def test_a_vendor_whose_run_failed_is_told_with_the_step_and_the_error(shelf):
    shelf.erp.put("store-001", "a", "3,49")
    shelf.sync("delta")
    assert (
        "Nothing newer is known until the next run gets past the step normalise, where run 2 failed"
        in _told(shelf).sentence
    )


def test_a_sku_that_left_the_erp_is_off_sale_and_why(shelf):
    shelf.erp.execute("DELETE FROM stock WHERE sku = 'a'")
    shelf.erp.put("store-001", "b", "1.00")
    shelf.sync("delta")
    told = _told(shelf)
    assert "3.99, off sale" in told.sentence
    assert "The ERP does not have it" in told.sentence
    assert any("it had left the ERP" in event.said for event in told.events)


def test_a_paused_vendor_is_told_with_who_and_why(shelf):
    shelf.erp.put("store-001", "a", "3.49")
    shelf.house.pause("vendor", "store-001", why="stock-taking", who="ada")
    shelf.sync("delta")
    assert "it will show 3.49 when sending goes on: vendor store-001 is paused by ada" in _told(shelf).sentence


def test_a_held_price_is_told_with_the_guard_and_the_decision_it_waits_for(shelf):
    shelf.erp.put("store-001", "a", "399.00")
    shelf.sync("delta")
    told = _told(shelf)
    assert "It shows 3.99 since" in told.sentence
    assert "it will show 399.00 when a person approves hold 1" in told.sentence
    assert told.events[-1].step == "guard"


def test_the_past_is_told_as_it_was(shelf):
    before = _told(shelf).at
    shelf.erp.put("store-001", "a", "3.49")
    shelf.sync("delta")
    assert "It shows 3.49" in _told(shelf).sentence
    then = shelf.house.explain("store-001", "a", at=before)
    assert "It shows 3.99" in then.sentence
    assert len(then.events) == 3


def test_nothing_had_happened_before_there_was_anything(shelf):
    told = shelf.house.explain("store-001", "a", at=datetime(2020, 1, 1, tzinfo=UTC))
    assert told.events == ()
    assert "No extract had this vendor by then" in told.sentence


def test_an_unknown_vendor_is_told_with_the_known_ones(shelf):
    with pytest.raises(DataError, match="known are store-001"):
        shelf.house.explain("store-999", "a")


def test_the_same_timeline_is_a_function_of_the_warehouse(shelf):
    rows = shelf.rows("SELECT step, said FROM warehouse.explain('store-001', 'a')")
    assert [tuple(row) for row in rows] == [(event.step, event.said) for event in _told(shelf).events]
    assert shelf.rows("SELECT * FROM warehouse.explain('store-001', 'a', '2020-01-01')") == []
