"""The explanation of one SKU, as an operator reads it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shelfsync.errors import DataError

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


def _shelf(world):
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "3.99")
    world.sync("full")


@pytest.fixture
def shelf(world_after):
    """A vendor whose SKU `a` is acknowledged at 3.99."""
    return world_after(_shelf)


def _explain(world, sku="a"):
    return world.app.explain("store-001", sku)


@pytest.mark.slow
def test_a_sku_in_step_is_explained_by_the_job_that_sent_its_price(shelf):
    found = _explain(shelf)
    assert "The platform acknowledged 3.99 at" in found.sentence
    assert "run 1 (full" in found.sentence
    assert "job 1, and the platform reported success" in found.sentence
    assert "The ERP has the same values" in found.sentence
    assert [event.step for event in found.events] == ["diff", "deliver", "confirm"]


@pytest.mark.slow
def test_what_is_sold_out_cannot_be_bought_whatever_else_waits(shelf):
    shelf.erp.put("store-001", "a", "3.99", quantity=0)
    shelf.sync("delta")
    assert "Customers cannot buy it, because its last quantity is 0." in _explain(shelf).sentence
    shelf.erp.put("store-001", "a", "399.00", quantity=0)
    shelf.sync("delta")
    assert "Customers cannot buy it, because its last quantity is 0." in _explain(shelf).sentence


@pytest.mark.slow
def test_a_repeated_price_is_shown_since_it_was_first_sent(shelf):
    first = _explain(shelf).acknowledged.since
    shelf.sync("full")
    assert _explain(shelf).acknowledged.since == first


@pytest.mark.slow
def test_a_price_in_flight_is_explained_by_its_job(shelf):
    shelf.erp.put("store-001", "a", "3.49")
    shelf.begin("delta", upto="deliver")
    found = _explain(shelf)
    assert "The platform acknowledged 3.99 at" in found.sentence
    assert "The platform will show 3.49 when job 2, sent at" in found.sentence


@pytest.mark.slow
def test_a_rejected_sku_is_explained_by_the_platforms_message(shelf):
    shelf.erp.put("store-001", "missing", "1.00")
    shelf.sync("delta")
    found = _explain(shelf, "missing")
    assert "never acknowledged" in found.sentence
    assert "The platform rejected it" in found.sentence
    assert found.events[-1].message.startswith("the platform rejected it")


@pytest.mark.slow
def test_a_sku_that_is_rejected_after_a_job_that_failed_was_never_acknowledged(shelf):
    shelf.erp.put("store-001", "missing", "1.00")
    shelf.platform.faults({"at": "job", "kind": "failed", "times": 1})
    shelf.sync("delta")
    unconfirmed = _explain(shelf, "missing")
    assert "What the platform shows is unknown since" in unconfirmed.sentence
    assert "the platform reported the job as FAILED and left no log" in unconfirmed.sentence
    shelf.sync("delta")
    found = _explain(shelf, "missing")
    assert "unknown since" not in found.sentence
    assert found.sentence.startswith("The platform never acknowledged this SKU")
    assert "The platform rejected it (1 times, last in job 3)" in found.sentence
    assert found.acknowledged is None
    assert _explain(shelf, "a").acknowledged is not None
    assert "unknown since" in shelf.app.explain("store-001", "missing", at=unconfirmed.at).sentence


@pytest.mark.slow
def test_a_quarantined_row_is_explained_by_its_fault(shelf):
    shelf.erp.put("store-001", "a", "3,49")
    shelf.erp.put("store-001", "b", "1.00")
    shelf.sync("delta")
    found = _explain(shelf)
    assert "The ERP's row is quarantined (read at" in found.sentence
    assert 'price "3,49" has a comma' in found.sentence
    assert found.events[-1].step == "normalise"


@pytest.mark.slow
def test_a_failed_run_is_explained_by_its_step_and_error(shelf):
    shelf.erp.put("store-001", "a", "3,49")
    shelf.sync("delta")
    assert (
        "The next change waits until the next run completes the step normalise. Run 2 failed there"
        in _explain(shelf).sentence
    )


@pytest.mark.slow
def test_a_sku_that_left_the_erp_is_off_sale_with_the_reason(shelf):
    shelf.erp.execute("DELETE FROM stock WHERE sku = 'a'")
    shelf.erp.put("store-001", "b", "1.00")
    shelf.sync("delta")
    found = _explain(shelf)
    assert "3.99, off sale" in found.sentence
    assert "The ERP does not have it" in found.sentence
    assert any("it left the ERP" in event.message for event in found.events)


@pytest.mark.slow
def test_a_pause_is_explained_by_its_user_and_reason(shelf):
    shelf.erp.put("store-001", "a", "3.49")
    shelf.app.pause("vendor", "store-001", why="stock-taking", who="ada")
    shelf.sync("delta")
    assert (
        "The platform will show 3.49 when sending resumes: vendor store-001 is paused by ada"
        in _explain(shelf).sentence
    )


@pytest.mark.slow
def test_a_held_price_is_explained_by_its_guard_and_its_hold(shelf):
    shelf.erp.put("store-001", "a", "399.00")
    shelf.sync("delta")
    found = _explain(shelf)
    assert "The platform acknowledged 3.99 at" in found.sentence
    assert "The platform will show 399.00 when an operator approves hold 1" in found.sentence
    assert found.events[-1].step == "guard"


@pytest.mark.slow
def test_the_past_is_explained_as_it_was(shelf):
    before = _explain(shelf).at
    shelf.erp.put("store-001", "a", "3.49")
    shelf.sync("delta")
    assert "The platform acknowledged 3.49" in _explain(shelf).sentence
    then = shelf.app.explain("store-001", "a", at=before)
    assert "The platform acknowledged 3.99" in then.sentence
    assert len(then.events) == 3


@pytest.mark.slow
def test_before_the_first_run_there_are_no_events(shelf):
    found = shelf.app.explain("store-001", "a", at=datetime(2020, 1, 1, tzinfo=UTC))
    assert found.events == ()
    assert "No extract had this store by then" in found.sentence


@pytest.mark.slow
def test_the_error_of_an_unknown_vendor_names_known_ones(shelf):
    with pytest.raises(DataError, match="known are store-001"):
        shelf.app.explain("store-999", "a")


def test_the_same_timeline_is_a_function_of_the_warehouse(shelf):
    rows = shelf.rows("SELECT step, message FROM warehouse.explain('store-001', 'a')")
    assert [tuple(row) for row in rows] == [(event.step, event.message) for event in _explain(shelf).events]
    assert shelf.rows("SELECT * FROM warehouse.explain('store-001', 'a', '2020-01-01')") == []
