"""Suppression on the whole path: the platform shows the same for customers, and gets fewer quantities."""

from __future__ import annotations

from decimal import Decimal

import pytest

from catalog_rows import active_by_sku as active

A = {"barcodes": [], "title": "A", "price": 9.99, "active": True, "sales_buffer": 3}


@pytest.fixture
def shop(buffered_shop):
    return buffered_shop


@pytest.mark.slow
def test_sales_that_leave_enough_stock_are_suppressed_and_reported(shop):
    before = len(shop.sent())
    for sku in ("a", "b"):
        shop.erp.put("store-001", sku, "1.00", 4, 1, 5)
    summary = shop.sync("delta")
    assert len(shop.sent()) == before
    assert summary["state"] == "succeeded"
    assert any(line.startswith("2 changed quantities are suppressed") for line in summary["lines"])
    assert shop.rows("SELECT skus_suppressed, skus_sent FROM warehouse.sync_run ORDER BY run_id DESC LIMIT 1") == [
        (2, 0)
    ]
    assert shop.app.status()["vendors"][0]["suppressed"] == 2
    (path,) = shop.rows("SELECT suppressed_path FROM ledger.vendor_run ORDER BY run_id DESC LIMIT 1")[0]
    suppressed = shop.app.context.lake.read_table(path).to_pylist()
    assert [(row["sku"], row["quantity"], row["sales_buffer"]) for row in suppressed] == [("a", 4, 3), ("b", 4, 3)]


@pytest.mark.slow
def test_many_small_sales_cross_the_buffer_at_the_right_one(shop):
    shown = []
    for left in (8, 6, 4, 3, 2, 1, 2, 3, 4):
        shop.erp.put("store-001", "a", "1.00", left, 1, 5)
        shop.sync("delta")
        shown.append(active(shop)["a"])
    assert shown == [True, True, True, True, False, False, False, True, True]
    assert len(shop.sent()) == 1 + 2


@pytest.mark.slow
def test_the_baseline_keeps_the_sent_quantity_until_the_full_sync_sends_everything(shop):
    shop.erp.put("store-001", "a", "2.00", 7, 1, 5)
    shop.sync("delta")
    baseline = "SELECT price, quantity FROM warehouse.baseline WHERE sku = 'a'"
    assert shop.rows(baseline) == [(Decimal("2.000"), 10)]
    shop.sync("full")
    assert shop.rows(baseline) == [(Decimal("2.000"), 7)]
    assert shop.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_a_plan_shows_what_would_be_suppressed(shop):
    shop.erp.put("store-001", "a", "1.00", 4, 1, 5)
    summary = shop.sync("delta", dry_run=True)
    assert any("1 suppressed" in line for line in summary["lines"])


@pytest.mark.slow
def test_a_setting_sends_everything_although_the_buffer_is_known(make_world, shop):
    lavish = make_world(suppression={"sales_buffer": 3, "enabled": False})
    lavish.erp.put("store-001", "a", "1.00", 9, 1, 5)
    assert lavish.sync("delta")["sent"] == 1


@pytest.mark.slow
def test_a_buffer_that_was_raised_switches_off_what_has_too_little_now(make_world, shop):
    shop.platform.put_products(
        "store-001", [{**A, "sku": sku, "price": 1.0, "sales_buffer": 12} for sku in ("a", "b", "c")]
    )
    raised = make_world(suppression={"sales_buffer": 12})
    raised.sync("delta")
    assert active(raised) == dict.fromkeys("abc", False)
    before = len(raised.sent())
    raised.sync("delta")
    assert len(raised.sent()) == before


@pytest.mark.slow
def test_after_a_job_without_log_lines_every_quantity_is_sent(shop):
    shop.platform.faults({"at": "log", "kind": "missing_sku", "times": 1})
    shop.erp.put("store-001", "a", "1.00", 1, 1, 5)
    shop.erp.put("store-001", "b", "1.00", 1, 1, 5)
    shop.sync("delta")
    silent = {sku for (sku,) in shop.rows("SELECT sku FROM warehouse.sku_outcome WHERE state = 'unaccounted'")}
    assert silent
    for sku in silent:
        shop.erp.put("store-001", sku, "1.00", 2, 1, 5)  # still below the buffer: no effect, if one only knew
    summary = shop.sync("delta")
    assert summary["sent"] >= len(silent)
    assert summary["accepted"] == summary["sent"]
