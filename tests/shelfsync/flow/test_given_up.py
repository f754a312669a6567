"""A job that is on its way is brought to its end, whatever has become of its run meanwhile (I5, I15)."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import pytest

from shelfsync.clock import SystemClock
from shelfsync.wiring import House

VENDOR = "store-001"
SKUS = tuple(f"s{number}" for number in range(6))
OVERDUE = (
    "UPDATE ledger.job SET deadline_at = ledger.instant() - interval '1 second' WHERE state IN ('submitting', 'open')"
)


class Hurried(SystemClock):
    """Does not wait between the repeats of a request."""

    def sleep(self, seconds: float) -> None:
        del seconds


@pytest.fixture
def shop(make_world):
    """Six products that need three bodies; a job whose log does not come is not looked up in the listing."""
    world = make_world(sync={"body_bytes_max": 120, "readback_requests_max": 0})
    world.platform.put_products(
        VENDOR, [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in SKUS]
    )
    _want(world, "2.00")
    return world


def _want(world, price):
    for sku in SKUS:
        world.erp.put(VENDOR, sku, price)


def _say(shop, *statements):
    with shop.house.parts.engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


@pytest.fixture
def resumed(shop):
    """A run whose first body was on its way when somebody paused the vendor, and let it go on at once."""
    run_id, names = shop.begin("full", upto="deliver")
    _pause_and_resume(shop)
    return run_id, names


def _pause_and_resume(shop):
    shop.house.pause("vendor", VENDOR, why="stop", who="ada")
    shop.house.resume("vendor", VENDOR, why="go", who="ada")


def _row(shop, run_id):
    return shop.rows(f"SELECT state, failed_step, error FROM ledger.vendor_run WHERE run_id = {run_id}")[0]


def _job(shop):
    return shop.rows("SELECT state FROM ledger.job ORDER BY job_id")[-1].state


def _settled(shop, run_id):
    shop.house.wait(run_id, [VENDOR])
    return shop.house.settle()


def _prices(shop):
    return {Decimal(str(product["price"])) for product in shop.shown(VENDOR).values()}


def _in_step(shop):
    """A delta run sends the rest, and the next one nothing."""
    assert shop.sync("delta")["state"] == "succeeded"
    assert _prices(shop) == {Decimal("2.0")}
    assert shop.sync("delta")["sent"] == 0


def test_resuming_while_the_first_of_two_bodies_is_on_its_way_does_not_block_the_vendor(shop, resumed):
    _settled(shop, resumed[0])
    assert _job(shop) == "acknowledged"
    _in_step(shop)


def test_a_run_that_was_given_up_is_not_in_step_when_its_last_job_ends_well(shop, resumed):
    """What its other bodies had to say was not said: it is no proof of how fresh the shelf is."""
    run_id, names = resumed
    _settled(shop, run_id)
    row = _row(shop, run_id)
    assert (row.state, row.failed_step) == ("superseded", None)
    assert "sending was paused" in row.error
    shop.house.step("acknowledge", run_id, names)
    assert _row(shop, run_id).state == "superseded"


def test_a_job_of_a_given_up_run_of_which_no_word_comes_ends_at_its_deadline(shop):
    shop.platform.faults({"at": "job", "kind": "stuck"})
    run_id, _ = shop.begin("full", upto="deliver")
    _pause_and_resume(shop)
    _say(shop, OVERDUE)
    shop.platform.faults()
    told = shop.house.settle()
    assert "no confirmation came before the deadline" in told["failed"][VENDOR]
    assert _job(shop) == "unconfirmed"
    assert _row(shop, run_id).state == "superseded"
    _in_step(shop)


def test_a_request_whose_answer_was_lost_is_repeated_although_the_rest_of_its_run_was_given_up(shop):
    run_id, names = shop.begin("full", upto="batch")
    shop.platform.faults({"at": "put_catalog", "kind": "drop_answer", "times": 3})
    House(dataclasses.replace(shop.house.parts, clock=Hurried())).step("deliver", run_id, names)
    shop.platform.faults()
    assert _job(shop) == "submitting"
    _pause_and_resume(shop)
    assert _row(shop, run_id).state == "superseded"
    shop.house.settle()
    assert _job(shop) == "open"
    _settled(shop, run_id)
    assert _job(shop) == "acknowledged"
    _in_step(shop)


@pytest.fixture
def cleared(shop):
    """A run that was cleared from its extract while its job was on its way, and whose rows nobody can read now."""
    run_id, names = shop.begin("full", upto="deliver")
    _want(shop, "abc")
    shop.house.extract(run_id)
    for word in ("normalise", "diff", "guard", "batch", "deliver"):
        shop.house.step(word, run_id, names)
    _want(shop, "2.00")
    return run_id


def test_a_run_that_is_read_anew_and_fails_still_ends_the_job_that_it_had_sent(shop, cleared):
    _settled(shop, cleared)
    assert _job(shop) == "acknowledged"
    _in_step(shop)


def test_what_failed_before_stays_failed_when_a_job_of_the_run_ends_well(shop, cleared):
    failure = _row(shop, cleared)
    assert (failure.state, failure.failed_step) == ("failed", "normalise")
    _settled(shop, cleared)
    assert _row(shop, cleared) == failure


def test_what_failed_before_stays_told_when_a_job_of_the_run_ends_badly(shop, cleared):
    failure = _row(shop, cleared)
    _say(shop, OVERDUE, "UPDATE ledger.job SET platform_job_id = 'nobody' || job_id")
    assert "before the deadline" in shop.house.settle()["failed"][VENDOR]
    assert _row(shop, cleared) == failure


def test_a_reading_that_was_replaced_sends_nothing_more_after_the_job_that_was_on_its_way(shop):
    """The vendor has no row any more in the second reading: its job is ended, its other bodies wait for a run that has read it."""
    shop.sync("full")
    _want(shop, "3.00")
    run_id, _ = shop.begin("delta", upto="deliver")
    shop.erp.execute("DELETE FROM stock")
    shop.erp.put("store-002", "s0", "1.00")
    shop.house.extract(run_id)
    assert (
        shop.rows(f"SELECT failed_step FROM ledger.vendor_run WHERE vendor = '{VENDOR}'")[-1].failed_step == "extract"
    )
    sent = len(shop.sent())
    _settled(shop, run_id)
    assert _job(shop) == "acknowledged"
    assert len(shop.sent()) == sent


def test_a_reading_that_is_under_way_when_sending_goes_on_is_not_given_up_with_the_old_plan(shop):
    run_id, _ = shop.begin("full", upto="batch")
    shop.house.extract(run_id)
    _pause_and_resume(shop)
    assert _row(shop, run_id).state == "open"
