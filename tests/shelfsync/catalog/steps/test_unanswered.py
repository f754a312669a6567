"""A request without a response may have been accepted, whatever the platform answers to its repeats (I7)."""

from __future__ import annotations

import dataclasses

import pytest

from app_calls import Calls
from partner_api.session import SystemClock

LOST = {"at": "put_catalog", "kind": "half_body", "times": 1}


class Hurried(SystemClock):
    """Does not wait between the repeats of a request."""

    def sleep(self, seconds: float) -> None:
        del seconds


@pytest.fixture
def shop(make_world):
    """Two products in step with the ERP, which then wants other prices; pauses are short."""
    world = make_world(rate_limit={"requests_per_minute": 60_000, "pause_max_s": 0.2})
    world.platform.put_products(
        "store-001", [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in "ab"]
    )
    for sku in "ab":
        world.erp.put("store-001", sku, "1.00")
    world.sync("full")
    return world


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
