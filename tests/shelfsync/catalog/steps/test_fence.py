"""shelfsync sends nothing older than the fence, even after a late or dead process (I4, I5, I7)."""

from __future__ import annotations

import dataclasses

import pytest

from app_calls import Calls
from partner_api.session import SystemClock
from shelfsync.errors import TryAgainError

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}


class Hurried(SystemClock):
    """Does not wait between the repeats of a request."""

    def sleep(self, seconds: float) -> None:
        del seconds


@pytest.fixture
def shop(world):
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "1.00")
    world.sync("full")
    return world


def _planned_apart(shop, upto):
    """Two delta runs, the older as far as `upto`, the newer with its body ready to be planned."""
    shop.erp.put("store-001", "a", "2.00")
    older, vendors = shop.begin("delta", upto=upto)
    shop.erp.put("store-001", "a", "3.00")
    newer, _ = shop.begin("delta", upto="guard")
    return older, newer, vendors


def test_a_snapshot_that_a_newer_one_went_past_is_never_batched(shop):
    older, newer, vendors = _planned_apart(shop, "guard")
    assert shop.app.step("batch", newer, vendors)["done"] == 1
    assert "nothing older is sent" in shop.app.step("batch", older, vendors)["skipped"]["store-001"]
    assert shop.rows(f"SELECT 1 FROM ledger.batch WHERE run_id = {older}") == []
    assert shop.rows(f"SELECT state FROM ledger.vendor_run WHERE run_id = {older}") == [("superseded",)]


@pytest.mark.slow
def test_a_request_that_may_have_left_is_not_repeated_once_a_newer_one_is_planned(shop):
    older, newer, vendors = _planned_apart(shop, "batch")
    shop.platform.faults({"at": "put_catalog", "kind": "drop_answer"})
    hurried = Calls(dataclasses.replace(shop.app.context, clock=Hurried()))
    assert "store-001" in hurried.step("deliver", older, vendors)["failed"]
    shop.platform.faults()
    assert shop.app.step("batch", newer, vendors)["done"] == 1
    before = len(shop.sent())
    shop.app.step("deliver", older, vendors)
    assert len(shop.sent()) == before
    assert shop.rows(
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
