"""Requests rejected as a whole, against the real sandbox: many bad rows, only bad rows, and the next delta (I10)."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


def _strict(make_world, skus, bad):
    """The platform has another name for the sales limit and rejects the whole request for it: only rows with a limit are bad."""
    world = make_world(platform={"sales_limit_name": "max_sales_quantity"})
    strict = {"sales_limit_name": "maximum_sales_quantity", "other_sales_limit": "reject"}
    world.platform.control("PUT", "settings", strict)
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in skus])
    for sku in skus:
        world.erp.put("store-001", sku, "2.00", 10, 1, 3 if sku in bad else None)
    return world


def _good(world):
    return {sku for sku, shown in world.shown().items() if float(shown["price"]) == 2.0}


def _sent(world):
    return [entry for entry in world.sent() if "/store-001/" in entry["route"]]


def _with_outcome(world):
    """Number of SKUs with an outcome: accepted, or rejected alone."""
    (row,) = world.rows(
        "SELECT count(DISTINCT sku) AS n FROM warehouse.sku_outcome WHERE state IN ('accepted', 'rejected')"
    )
    return row.n


@pytest.mark.slow
def test_with_a_quarter_of_all_rows_bad_every_good_row_arrives_and_every_bad_one_is_listed(make_world):
    skus = [f"s{number:03}" for number in range(32)]
    bad = set(skus[::4])
    world = _strict(make_world, skus, bad)
    world.sync("delta")
    for _ in range(3):
        world.app.recover()
    world.sync("delta")
    assert _good(world) == set(skus) - bad
    assert {row.sku for row in world.rows("SELECT sku FROM ledger.rejection")} == bad
    assert len(world.sent()) <= 2 * len(skus) - 1
    assert world.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_each_delta_goes_on_where_the_one_before_it_was_cut_off(make_world):
    """The schedule leaves a delta no time to end: each sends as far as its first job and acknowledges that."""
    skus = [f"s{number:03}" for number in range(32)]
    bad = set(skus[:12:2])
    world = _strict(make_world, skus, bad)
    before = 0
    for _ in range(8):
        run_id, vendors = world.begin("delta", upto="deliver")
        world.app.wait(run_id, vendors)
        for word in ("confirm", "acknowledge"):
            world.app.step(word, run_id, vendors)
        world.app.wait(run_id, vendors)
        assert _with_outcome(world) > before or before == len(skus)
        before = _with_outcome(world)
    world.sync("delta")
    assert _good(world) == set(skus) - bad
    assert len(world.sent()) <= 2 * len(skus)


@pytest.mark.slow
def test_a_vendor_whose_rows_are_all_rejected_reports_it_once_and_waits_and_others_continue(make_world):
    skus = [f"s{number:03}" for number in range(64)]
    world = _strict(make_world, skus, set(skus))
    world.platform.put_products("store-002", [A])
    world.erp.put("store-002", "a", "3.00")
    first = world.sync("delta")
    assert (first["state"], first["accepted"]) == ("partly_failed", 1)
    reports = [row["error"] for row in first["vendors"] if row["error"]]
    for _ in range(5):
        reports += world.app.recover()["failed"].values()
    assert len(_sent(world)) == 50
    (line,) = reports
    for words in (
        "the last 50 requests of vendor store-001",
        "max_sales_quantity",
        "SALES_LIMIT_NAME",
        "in 15 minutes",
    ):
        assert words in line
    for _ in range(3):  # the schedule goes on, and nothing leaves
        summary = world.sync("delta")
        assert (summary["state"], summary["alarms"]) == ("partly", []), "its alarm was raised when it began to wait"
        (row,) = [row for row in summary["vendors"] if row["vendor"] == "store-001"]
        assert row["state"] == "busy"
        assert any("50 requests of this vendor failed" in line for line in summary["lines"])
    assert len(_sent(world)) == 50
    for waited_s, requests in ((901, 60), (901, 60), (900, 70)):
        with world.app.context.engine.begin() as connection:
            passed = sa.text(f"UPDATE ledger.vendor SET retry_at = retry_at - make_interval(secs => {waited_s})")
            connection.execute(passed)
        world.app.recover()
        assert len(_sent(world)) == requests


@pytest.mark.slow
def test_when_the_setting_is_put_right_a_full_sync_sends_at_once_what_waits(make_world):
    skus = [f"s{number:03}" for number in range(64)]
    world = _strict(make_world, skus, set(skus))
    for _ in range(3):
        world.sync("delta")
    assert world.rows("SELECT consecutive_failures FROM ledger.vendor")[0].consecutive_failures == 50
    world.platform.control("PUT", "settings", {"sales_limit_name": "max_sales_quantity"})
    assert world.sync("delta")["sent"] == 0
    assert world.sync("full")["accepted"] == len(skus)
    assert world.rows("SELECT consecutive_failures, retry_at FROM ledger.vendor") == [(0, None)]
    assert world.rows("SELECT * FROM ledger.rejection") == []
    assert world.sync("delta")["sent"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("skus", [1, 2])
def test_a_single_bad_row_fails_and_is_rejected_and_nothing_is_left(make_world, skus):
    names = [f"s{number}" for number in range(skus)]
    world = _strict(make_world, names, set(names))
    world.sync("delta")
    assert world.sync("delta")["sent"] == 0
    assert world.rows("SELECT count(*) FROM ledger.rejection") == [(skus,)]
