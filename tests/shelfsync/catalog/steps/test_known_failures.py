"""What went wrong in other integrations of this interface, tried on the whole path against the platform (tests/faults.md lists all)."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

VENDOR = "store-001"


def _product(sku, **more):
    return {"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True, **more}


def _prices(world):
    return {sku: Decimal(str(row["price"])) for sku, row in world.shown().items()}


@pytest.mark.slow
def test_a_sku_rejected_inside_an_accepted_job_is_not_taken_for_synced(world):
    world.platform.put_products(VENDOR, [_product("a")])
    for sku in ("a", "unknown"):
        world.erp.put(VENDOR, sku, "1.00")
    summary = world.sync("full")
    assert world.rows("SELECT platform_status FROM ledger.job") == [("COMPLETED",)]
    assert (summary["accepted"], summary["rejected"]) == (1, 1)
    assert world.rows("SELECT sku FROM warehouse.baseline") == [("a",)]
    assert world.rows("SELECT sku FROM ledger.rejection") == [("unknown",)]


@pytest.mark.slow
def test_feedback_under_the_sent_key_confirms_the_right_sku(make_world):
    """Items are sent by barcode. The log returns it padded, and one SKU looks like the barcode of another one."""
    world = make_world(platform={"item_key": "barcode"})
    world.platform.put_products(
        VENDOR, [_product("p1", barcodes=["4006381333931"]), _product("p2", barcodes=["96385074"])]
    )
    rows = {"96385074": "4006381333931", "other": "96385074", "none": "5901234123457"}  # our SKU: barcode
    for sku, barcode in rows.items():
        world.erp.execute("INSERT INTO stock VALUES (?, ?, ?, '1.50', 10, 1, NULL)", VENDOR, sku, barcode)
    summary = world.sync("full")
    assert (summary["accepted"], summary["rejected"], summary["unaccounted"]) == (2, 1, 0)
    assert world.rows("SELECT sku FROM warehouse.baseline ORDER BY sku") == [("96385074",), ("other",)]
    assert world.rows("SELECT sku FROM ledger.rejection") == [("none",)]
    assert set(_prices(world).values()) == {Decimal("1.5")}


@pytest.mark.slow
def test_one_bad_barcode_and_a_fractional_quantity_cost_no_other_row(world):
    world.platform.put_products(VENDOR, [_product(sku) for sku in "abcd"])
    rows = [("a", "4006381333931", "10"), ("b", "40063X1", "10"), ("c", "123456789012345", "10"), ("d", None, "3.4")]
    for sku, barcode, quantity in rows:
        world.erp.execute("INSERT INTO stock VALUES (?, ?, ?, '1.50', ?, 1, NULL)", VENDOR, sku, barcode, quantity)
    summary = world.sync("full")
    assert (summary["accepted"], summary["rejected"]) == (4, 0)
    assert _prices(world) == dict.fromkeys("abcd", Decimal("1.5"))
    left_out = world.rows("SELECT sku, reason, row_sent FROM warehouse.quarantine ORDER BY sku")
    assert left_out == [("b", "barcode_not_digits", True), ("c", "barcode_too_long", True)]
    assert [entry["status"] for entry in world.sent()] == [202]


@pytest.mark.slow
def test_a_429_and_a_token_that_ends_in_mid_run_cost_nothing_but_time(make_world):
    world = make_world(rate_limit={"requests_per_minute": 60_000, "pause_max_s": 1.0})
    world.platform.put_products(VENDOR, [_product("a")])
    world.erp.put(VENDOR, "a", "1.50")
    world.platform.faults(
        {"at": "put_catalog", "kind": "status_429", "retry_after": "1", "times": 1},
        {"at": "put_catalog", "kind": "token_expired", "times": 1},
    )
    summary = world.sync("full")
    assert (summary["state"], summary["accepted"]) == ("succeeded", 1)
    assert [entry["status"] for entry in world.sent()] == [429, 401, 202]
    assert _prices(world) == {"a": Decimal("1.5")}


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/nowhere", None], ids=["wrong address", "none configured"])
def test_a_webhook_that_never_comes_is_made_up_for_by_asking(world, address):
    world.platform.put_webhook(catalog_url=address, secret="canary-webhook-1")
    world.platform.put_products(VENDOR, [_product("a")])
    world.erp.put(VENDOR, "a", "1.50")
    summary = world.sync("full")
    assert (summary["state"], summary["accepted"]) == ("succeeded", 1)
    assert world.rows("SELECT count(*) FROM inbox.event") == [(0,)]
    assert "job_status" in {entry["operation"] for entry in world.platform.journal()["entries"]}


def test_what_the_platform_sends_with_its_verbatim_secret_is_let_in(make_world, receiver):
    """No signature, no scheme: the header holds the secret as it is."""
    world = make_world(sync={"poll_first_s": 3600, "poll_max_s": 3600, "job_deadline_s": 60})
    world.platform.put_webhook(catalog_url=receiver.url, order_url=receiver.url, secret="canary-webhook-1")
    world.platform.put_products(VENDOR, [_product("a")])
    world.erp.put(VENDOR, "a", "1.50")
    assert world.sync("full")["accepted"] == 1
    (event,) = world.rows("SELECT kind, body FROM inbox.event")
    assert event.kind == "job"
    assert json.loads(bytes(event.body))["job_status"] == "COMPLETED"
