"""Jobs that end as FAILED, against the real sandbox: by one row, by trouble of the moment, by a platform on which all fail (I10)."""

from __future__ import annotations

import re

import pytest
import sqlalchemy as sa

PRODUCT = {"barcodes": [], "title": "A", "price": 9.99, "active": True}


def _at_two(world, skus):
    """The store has these products, and the ERP wants 2.00 for each."""
    world.platform.put_products("store-001", [{**PRODUCT, "sku": sku} for sku in skus])
    for sku in skus:
        world.erp.put("store-001", sku, "2.00")


def _good(world):
    return {sku for sku, shown in world.shown().items() if float(shown["price"]) == 2.0}


def _breaks_the_worker(world, sku):
    world.platform.faults({"at": "job", "kind": "failed", "sku": sku})


@pytest.mark.slow
def test_one_row_that_breaks_the_platforms_worker_is_found_and_listed_and_all_others_arrive(world):
    skus = [f"s{number:03}" for number in range(32)]
    _at_two(world, skus)
    _breaks_the_worker(world, "s000")  # the very first, which every cut leaves to the end
    summaries = [world.sync("delta") for _ in range(8)]
    assert [summary["accepted"] for summary in summaries[:2]] == [0, 0]  # it may be trouble of the moment
    assert _good(world) == set(skus[1:])
    ((sku, kind, reason, todo),) = world.rows("SELECT sku, kind, reason, what_to_do FROM warehouse.rejection")
    assert (sku, kind, reason) == ("s000", "unclear", "the platform reported the job as FAILED and left no log")
    assert "next_try_at" in todo
    assert summaries[-1]["sent"] == 0
    assert len(world.sent()) <= 3 + 2 * 5
    world.platform.faults()
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.rejection SET next_try_at = ledger.instant()"))
    assert world.sync("delta")["accepted"] == 1
    assert world.rows("SELECT * FROM ledger.rejection") == []


@pytest.mark.slow
def test_a_search_among_failing_jobs_goes_on_over_deltas_that_leave_it_no_time_to_end(world):
    skus = [f"s{number:03}" for number in range(16)]
    _at_two(world, skus)
    _breaks_the_worker(world, "s000")
    for number in range(11):
        if number == 4:
            world.erp.put("store-001", "s008", "3.00")
        run_id, vendors = world.begin("delta", upto="deliver")
        world.app.wait(run_id, vendors)
        for word in ("confirm", "acknowledge"):
            world.app.step(word, run_id, vendors)
        world.app.wait(run_id, vendors)
        if number == 6:  # in the midst of the search: what changed meanwhile does not wait for its end
            assert world.shown()["s008"]["price"] == 3
    world.sync("delta")
    assert _good(world) == set(skus[1:]) - {"s008"}
    assert [row.sku for row in world.rows("SELECT sku FROM ledger.rejection")] == ["s000"]


@pytest.mark.slow
def test_a_platform_on_which_every_job_fails_gets_fewer_and_fewer_requests_and_an_alarm(world):
    skus = [f"s{number:03}" for number in range(64)]
    _at_two(world, skus)
    world.platform.faults({"at": "job", "kind": "failed"})
    reports = [world.sync("delta") for _ in range(6)]
    assert 50 <= len(world.sent()) <= 51, "the halves of one cut leave together"
    assert any(re.search("is busy: the last 5[01] requests", line) for line in reports[-1]["lines"])
    assert reports[-1]["vendors"][0]["state"] == "busy"
    world.platform.faults()
    assert world.sync("full")["accepted"] == len(skus)
    assert world.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_one_failed_job_is_sent_again_whole(world):
    _at_two(world, ("a", "b"))
    world.platform.faults({"at": "job", "kind": "failed", "times": 1})
    assert world.sync("delta")["state"] == "failed"
    assert world.sync("delta")["accepted"] == 2
    assert len(world.sent()) == 2
