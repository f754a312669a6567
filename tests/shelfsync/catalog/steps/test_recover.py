"""An open job is always finished, whatever the state of its run (I5, I15)."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import pytest

from app_calls import Calls
from partner_api.session import SystemClock
from shelfsync.errors import TryAgainError

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
    """Six products that need three bodies, one new one at a time; a job whose log does not come is not looked up in the listing."""
    limit = {"max_rows": 1, "max_share": 0.0}
    world = make_world(sync={"body_max_bytes": 120, "readback_requests_max": 0}, guards={"new_skus": limit})
    world.platform.put_products(
        VENDOR, [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in SKUS]
    )
    _want(world, "2.00")
    return world


def _want(world, price):
    for sku in SKUS:
        world.erp.put(VENDOR, sku, price)


def _execute(shop, *statements):
    with shop.app.context.engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


@pytest.fixture
def resumed(shop):
    """A run whose first body was in flight, and its others planned, when a person paused the vendor and resumed it at once."""
    run_id, names = _one_body_sent(shop)
    _pause_and_resume(shop)
    return run_id, names


def _one_body_sent(shop, *more):
    """The platform accepts the first body and throttles the second; `more`: its other faults."""
    run_id, names = shop.begin("full", upto="batch")
    _send_one_body(shop, run_id, names, *more)
    return run_id, names


def _send_one_body(shop, run_id, names, *more):
    shop.platform.faults({"at": "put_catalog", "kind": "status_429", "retry_after": "0", "after": 1}, *more)
    with pytest.raises(TryAgainError):
        shop.app.step("deliver", run_id, names)
    shop.platform.faults()


def _pause_and_resume(shop):
    shop.app.pause("vendor", VENDOR, why="stop", who="ada")
    shop.app.resume("vendor", VENDOR, why="go", who="ada")


def _row(shop, run_id):
    return shop.rows(f"SELECT state, failed_step, error FROM ledger.vendor_run WHERE run_id = {run_id}")[0]


def _job(shop):
    return shop.rows("SELECT state FROM ledger.job WHERE state <> 'superseded' ORDER BY job_id")[-1].state


def _recovered(shop, run_id):
    shop.app.wait(run_id, [VENDOR])
    return shop.app.recover()


def _prices(shop):
    return {Decimal(str(product["price"])) for product in shop.shown(VENDOR).values()}


def _in_step(shop):
    """A delta run sends the rest, and the next one nothing."""
    assert shop.sync("delta")["state"] == "succeeded"
    assert _prices(shop) == {Decimal("2.0")}
    assert shop.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_resuming_while_the_first_of_two_bodies_is_on_its_way_does_not_block_the_vendor(shop, resumed):
    _recovered(shop, resumed[0])
    assert _job(shop) == "acknowledged"
    _in_step(shop)


@pytest.mark.slow
def test_a_run_that_was_given_up_is_not_in_step_when_its_last_job_ends_well(shop, resumed):
    """Its other bodies were not sent, so the run proves nothing about the freshness of the vendor."""
    run_id, names = resumed
    _recovered(shop, run_id)
    row = _row(shop, run_id)
    assert (row.state, row.failed_step) == ("superseded", None)
    assert "sending was paused" in row.error
    shop.app.step("acknowledge", run_id, names)
    assert _row(shop, run_id).state == "superseded"


@pytest.mark.slow
def test_a_run_whose_rest_a_newer_run_took_over_is_not_in_step_and_the_rest_is_no_new_product(shop):
    """The first delta and the first full sync of an installation may meet; the half that the delta sent is no state to compare with."""
    run_id, names = shop.begin("delta", upto="batch")
    newer, _ = shop.begin("full", upto="guard")
    _send_one_body(shop, run_id, names)
    shop.app.step("batch", newer, names)
    _recovered(shop, run_id)
    assert shop.rows("SELECT state FROM ledger.job ORDER BY job_id LIMIT 1") == [("acknowledged",)]
    row = _row(shop, run_id)
    assert (row.state, row.failed_step) == ("superseded", None)
    assert "newer run" in row.error
    _execute(shop, "UPDATE ledger.batch SET state = 'superseded' WHERE state = 'planned'")  # the newer run died here
    _recovered(shop, newer)
    _in_step(shop)
    assert shop.rows("SELECT count(*) FROM ledger.hold") == [(0,)]


@pytest.mark.slow
def test_a_job_of_a_given_up_run_of_which_no_word_comes_ends_at_its_deadline(shop):
    run_id, _ = _one_body_sent(shop, {"at": "job", "kind": "stuck"})
    _pause_and_resume(shop)
    _execute(shop, OVERDUE)
    report = shop.app.recover()
    assert "no confirmation came before the deadline" in report["failed"][VENDOR]
    assert _job(shop) == "unconfirmed"
    assert _row(shop, run_id).state == "superseded"
    _in_step(shop)


@pytest.mark.slow
def test_a_request_whose_answer_was_lost_is_repeated_although_the_rest_of_its_run_was_given_up(shop):
    run_id, names = shop.begin("full", upto="batch")
    shop.platform.faults({"at": "put_catalog", "kind": "drop_answer", "times": 3})
    Calls(dataclasses.replace(shop.app.context, clock=Hurried())).step("deliver", run_id, names)
    shop.platform.faults()
    assert _job(shop) == "submitting"
    _pause_and_resume(shop)
    assert _row(shop, run_id).state == "superseded"
    shop.app.recover()
    assert _job(shop) in {"open", "acknowledged"}, "on a slow machine its first poll is due at once"
    _recovered(shop, run_id)
    assert _job(shop) == "acknowledged"
    _in_step(shop)


@pytest.fixture
def cleared(shop):
    return _cleared(shop)


def _cleared(shop):
    """A run that was cleared from its extract after its job was sent, and whose rows cannot be read now."""
    run_id, names = shop.begin("full", upto="deliver")
    _want(shop, "abc")
    shop.app.extract(run_id)
    for word in ("normalise", "diff", "guard", "batch", "deliver"):
        shop.app.step(word, run_id, names)
    _want(shop, "2.00")
    return run_id


@pytest.mark.slow
def test_a_run_that_is_read_anew_and_fails_still_ends_the_job_that_it_had_sent(shop, cleared):
    _recovered(shop, cleared)
    assert _job(shop) == "acknowledged"
    _in_step(shop)


@pytest.mark.slow
def test_what_failed_before_stays_failed_when_a_job_of_the_run_ends_well(shop, cleared):
    failure = _row(shop, cleared)
    assert (failure.state, failure.failed_step) == ("failed", "normalise")
    _recovered(shop, cleared)
    assert _row(shop, cleared) == failure


@pytest.mark.slow
def test_an_earlier_failure_stays_reported_when_a_job_of_the_run_fails(shop):
    shop.platform.control("PUT", "settings", {"job_seconds": 3600})
    cleared = _cleared(shop)
    failure = _row(shop, cleared)
    _execute(shop, OVERDUE, "UPDATE ledger.job SET platform_job_id = 'unknown' || job_id")
    assert "before the deadline" in shop.app.recover()["failed"][VENDOR]
    assert _row(shop, cleared) == failure


@pytest.mark.slow
def test_a_reading_that_was_replaced_sends_nothing_more_after_the_job_that_was_on_its_way(shop):
    """The vendor has no row any more in the second reading: its job is ended, its other bodies wait for a run that has read it."""
    shop.sync("full")
    _want(shop, "3.00")
    run_id, _ = shop.begin("delta", upto="deliver")
    shop.erp.execute("DELETE FROM stock")
    shop.erp.put("store-002", "s0", "1.00")
    shop.app.extract(run_id)
    assert (
        shop.rows(f"SELECT failed_step FROM ledger.vendor_run WHERE vendor = '{VENDOR}'")[-1].failed_step == "extract"
    )
    sent = len(shop.sent())
    _recovered(shop, run_id)
    assert _job(shop) == "acknowledged"
    assert len(shop.sent()) == sent


def test_a_reading_that_is_under_way_when_sending_goes_on_is_not_given_up_with_the_old_plan(shop):
    run_id, _ = shop.begin("full", upto="batch")
    shop.app.extract(run_id)
    _pause_and_resume(shop)
    assert _row(shop, run_id).state == "open"
