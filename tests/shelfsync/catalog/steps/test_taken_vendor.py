"""A vendor that another process works on: the run retries it, and reports if it had to skip it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from shelfsync.catalog.steps import each_vendor
from shelfsync.vendors.lease import leased

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
VENDORS = ("store-001", "store-002")
LEASE_S = 60


@pytest.fixture
def shop(world):
    for vendor in VENDORS:
        world.platform.put_products(vendor, [A])
        world.erp.put(vendor, "a", "1.50")
    return world


def test_a_run_comes_back_to_a_vendor_that_another_process_held_for_a_moment(shop):
    run_id, vendors = shop.begin("delta", upto="batch")
    with ThreadPoolExecutor(1) as pool:
        with leased(shop.app.context.engine, "store-001", LEASE_S):
            step = pool.submit(shop.app.step, "deliver", run_id, vendors)
            while not shop.rows("SELECT 1 FROM ledger.job WHERE vendor = 'store-002'"):
                assert not step.done()
                time.sleep(0.05)
        assert step.result(timeout=60) == {"step": "deliver", "done": 2, "skipped": {}, "failed": {}}


def test_a_run_that_had_to_leave_a_vendor_planned_is_no_plain_success(shop, monkeypatch):
    monkeypatch.setattr(each_vendor, "TAKEN_WAIT_S", 0.0)
    run_id, vendors = shop.begin("delta", upto="batch")
    with leased(shop.app.context.engine, "store-001", LEASE_S):
        report = shop.app.step("deliver", run_id, vendors)
    assert report["skipped"] == {"store-001": "another process is working on this vendor"}
    summary = shop.app.report(run_id)
    assert summary["state"] == "partly"
    assert summary["error"].startswith("1 of 2 vendors were passed over: store-001: its requests are planned")


@pytest.mark.slow
def test_recovery_does_not_wait_for_a_vendor_of_another_process(shop, monkeypatch):
    run_id, vendors = shop.begin("delta", upto="batch")
    shop.app.step("deliver", run_id, vendors)
    shop.platform.until_quiescent()
    with shop.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.job SET next_poll_at = now() - interval '1 second'")

    def no_sleep(*_: object) -> None:
        pytest.fail("it waits")

    monkeypatch.setattr(type(shop.app.context.clock), "sleep", no_sleep)
    with leased(shop.app.context.engine, "store-001", LEASE_S):
        report = shop.app.recover()
    assert (report["acknowledged"], report["open"]) == (1, 1)
