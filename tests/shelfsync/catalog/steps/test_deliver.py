"""deliver: nothing older than the fence is sent, and a request without a response may have been accepted (I4, I5, I7)."""

from __future__ import annotations

import dataclasses

import pytest

from app_calls import Calls
from partner_api.session import SystemClock
from shelfsync.errors import TryAgainError
from shelfsync.platform.jobs.submit import RESENDS

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
LOST = {"at": "put_catalog", "kind": "half_body", "times": 1}


class Hurried(SystemClock):
    """Does not wait between the repeats of a request."""

    def sleep(self, seconds: float) -> None:
        del seconds


def _shop(world):
    world.platform.put_products(
        "store-001", [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in "ab"]
    )
    for sku in "ab":
        world.erp.put("store-001", sku, "1.00")
    world.sync("full")


@pytest.fixture
def shop(world_after):
    """Two products in step with the ERP, which then wants other prices; pauses are short."""
    return world_after(_shop, rate_limit={"requests_per_minute": 60_000, "pause_max_s": 0.2})


def _send(shop, *rules):
    """A delta run as far as its request, which meets these faults."""
    run_id, vendors = shop.begin("delta", upto="batch")
    shop.platform.faults(*rules)
    hurried = Calls(dataclasses.replace(shop.app.context, clock=Hurried()))
    try:
        return hurried.step("deliver", run_id, vendors)
    finally:
        shop.platform.faults()


def _recover_all(shop):
    """Until nothing is open and nothing planned any more."""
    for _ in range(50):
        if not shop.app.recover()["open"] and not shop.rows("SELECT 1 FROM ledger.batch WHERE state = 'planned'"):
            return
        shop.rows("SELECT pg_sleep(0.1)")
    raise TimeoutError("the work does not end")


def _jobs(shop):
    return [row.state for row in shop.rows("SELECT state FROM ledger.job WHERE attempts > 1 ORDER BY job_id")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "after", [{"kind": "block_page"}, {"kind": "status_429", "retry_after": "3000"}, {"kind": "status_401"}]
)
def test_a_request_that_may_have_been_accepted_stays_unconfirmed_if_its_repeat_is_rejected(shop, after):
    shop.erp.put("store-001", "a", "2.00")
    with pytest.raises(Exception, match=r"store|platform|credentials|wait|pause|block"):
        _send(shop, LOST, {"at": "put_catalog", **after, "times": 3, "after": 1})
    assert _jobs(shop) == ["submitting"]
    _recover_all(shop)
    assert _jobs(shop) == ["acknowledged"]
    assert shop.rows("SELECT price FROM warehouse.baseline WHERE sku = 'a'") == [(2,)]


@pytest.mark.slow
def test_a_vendor_forbidden_after_a_lost_response_leaves_its_skus_unconfirmed(shop):
    shop.erp.put("store-001", "a", "2.00")
    assert (
        "store-001" in _send(shop, LOST, {"at": "put_catalog", "kind": "status_404", "times": 1, "after": 1})["failed"]
    )
    assert _jobs(shop) == ["unconfirmed"]
    shop.erp.put("store-001", "a", "1.00")
    shop.sync("delta")
    assert shop.shown()["a"]["price"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("skus", ["a", "ab"])
def test_a_body_rejected_after_a_lost_response_leaves_its_skus_unconfirmed(shop, skus):
    for sku in skus:
        shop.erp.put("store-001", sku, "2.00")
    _send(shop, LOST, {"at": "put_catalog", "kind": "status_400", "times": 1, "after": 1})
    assert _jobs(shop) == ["unconfirmed"]
    _recover_all(shop)
    for sku in skus:
        shop.erp.put("store-001", sku, "1.00")
    shop.sync("delta")
    assert {row["price"] for row in shop.shown().values()} == {1}


def _fenced(world):
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")


@pytest.fixture
def fenced(world_after):
    return world_after(_fenced)


def _planned_apart(fenced, upto):
    """Two delta runs, the older as far as `upto`, the newer with its body ready to be planned."""
    fenced.erp.put("store-001", "a", "2.00")
    older, vendors = fenced.begin("delta", upto=upto)
    fenced.erp.put("store-001", "a", "3.00")
    newer, _ = fenced.begin("delta", upto="guard")
    return older, newer, vendors


@pytest.mark.slow
def test_a_snapshot_that_a_newer_one_went_past_is_never_batched(fenced):
    older, newer, vendors = _planned_apart(fenced, "guard")
    assert fenced.app.step("batch", newer, vendors)["done"] == 1
    assert "nothing older is sent" in fenced.app.step("batch", older, vendors)["skipped"]["store-001"]
    assert fenced.rows(f"SELECT 1 FROM ledger.batch WHERE run_id = {older}") == []
    assert fenced.rows(f"SELECT state FROM ledger.vendor_run WHERE run_id = {older}") == [("superseded",)]


@pytest.mark.slow
def test_each_request_is_counted_before_it_leaves_the_first_and_that_of_another_process_too(shop):
    """Only then is it known that an earlier one may have left (I7)."""
    shop.erp.put("store-001", "a", "2.00")
    _send(shop, {"at": "put_catalog", "kind": "drop_answer"})
    newest = "SELECT state, attempts FROM ledger.job ORDER BY job_id DESC LIMIT 1"
    assert shop.rows(newest) == [("submitting", 1 + RESENDS)]
    (run,) = shop.rows("SELECT max(run_id) FROM ledger.run")
    shop.app.step("deliver", run[0], ["store-001"])
    assert shop.rows(newest) == [("open", 1 + RESENDS + 1)]


@pytest.mark.slow
def test_a_request_that_may_have_left_is_not_repeated_once_a_newer_one_is_planned(fenced):
    older, newer, vendors = _planned_apart(fenced, "batch")
    fenced.platform.faults({"at": "put_catalog", "kind": "drop_answer"})
    hurried = Calls(dataclasses.replace(fenced.app.context, clock=Hurried()))
    assert "store-001" in hurried.step("deliver", older, vendors)["failed"]
    fenced.platform.faults()
    assert fenced.app.step("batch", newer, vendors)["done"] == 1
    before = len(fenced.sent())
    fenced.app.step("deliver", older, vendors)
    assert len(fenced.sent()) == before
    assert fenced.rows(
        f"SELECT j.state, j.unaccounted FROM ledger.job j JOIN ledger.batch USING (batch_id) WHERE run_id = {older}"
    ) == [("unconfirmed", 1)]


@pytest.mark.slow
def test_what_an_older_run_had_left_to_send_is_given_up_when_the_erp_is_back_at_what_was_acknowledged(make_world):
    """The newer delta is empty, so it plans nothing. The planned batch has a value that the ERP no longer has (I4)."""
    world = make_world(sync={"body_max_bytes": 70})  # one SKU each
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in ("a", "b")])
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "1.00", 10)
    assert world.sync("full")["accepted"] == 2
    for sku in ("a", "b"):
        world.erp.put("store-001", sku, "2.00", 11)
    world.platform.faults({"at": "put_catalog", "kind": "status_429", "retry_after": "0", "after": 1})
    run_id, vendors = world.begin("delta", upto="batch")
    with pytest.raises(TryAgainError):
        world.app.step("deliver", run_id, vendors)
    world.platform.faults()
    world.app.wait(run_id, vendors)
    world.erp.put("store-001", "b", "1.00", 10)
    before = len(world.sent())
    assert world.sync("delta")["sent"] == 0
    for _ in range(2):
        world.app.recover()
    assert len(world.sent()) == before
    assert float(world.shown()["b"]["price"]) == 1
