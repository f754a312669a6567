"""The path from ERP to platform and back, step by step, against the live platform and a real database."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest

from shelfsync.errors import DataError, IncompleteExtractError

pytestmark = pytest.mark.slow

A = {"sku": "a", "barcodes": [], "title": "A", "price": 9.99, "active": True}
STEPS = ("normalise", "diff", "guard", "batch", "deliver", "confirm", "acknowledge")


@pytest.fixture
def shop(world):
    """Three products that both sides know, and one that only the ERP has."""
    for vendor in ("store-001", "store-002"):
        world.platform.put_products(vendor, [{**A, "sku": sku} for sku in ("a", "b", "c")])
        for sku in ("a", "b", "c", "unknown"):
            world.erp.put(vendor, sku, "1.2345", 10, 1, 5)
    return world


def test_a_full_sync_makes_the_platform_equal_to_the_erp_with_prices_cut(shop):
    summary = shop.sync("full")
    assert summary["state"] == "succeeded"
    for vendor in ("store-001", "store-002"):
        shown = shop.shown(vendor)
        assert {sku: Decimal(str(row["price"])) for sku, row in shown.items()} == dict.fromkeys("abc", Decimal("1.234"))
        assert all(row["active"] and row["max_sales_quantity"] == 5 for row in shown.values())


def test_every_sku_sent_has_one_outcome_in_the_warehouse(shop):
    summary = shop.sync("full")
    assert (summary["sent"], summary["accepted"], summary["rejected"], summary["unaccounted"]) == (8, 6, 2, 0)
    counts = shop.rows("SELECT vendor, state, count(*) FROM warehouse.sku_outcome GROUP BY 1, 2 ORDER BY 1, 2")
    assert counts == [
        ("store-001", "accepted", 3),
        ("store-001", "rejected", 1),
        ("store-002", "accepted", 3),
        ("store-002", "rejected", 1),
    ]
    assert shop.rows("SELECT sum(sent), sum(accepted), sum(rejected) FROM warehouse.catalog_job") == [(8, 6, 2)]


def test_the_baseline_has_what_was_accepted_and_nothing_that_was_rejected(shop):
    shop.sync("full")
    rows = shop.rows("SELECT sku, price, quantity FROM warehouse.baseline WHERE vendor = 'store-001' ORDER BY sku")
    assert rows == [(sku, Decimal("1.234"), 10) for sku in "abc"]


def test_a_second_run_sends_only_what_changed(shop):
    shop.sync("full")
    shop.erp.put("store-001", "b", "2.50", 10, 1, 5)
    before = len(shop.sent())
    summary = shop.sync("delta")
    assert len(shop.sent()) - before == 1
    assert summary["sent"] == 1
    rows = shop.rows(
        "SELECT sku, price, quantity, active, change FROM warehouse.sku_outcome"
        f" JOIN warehouse.catalog_job USING (job_id) WHERE run_id = {summary['run']}"
    )
    assert rows == [("b", Decimal("2.500"), None, None, "changed")]
    assert Decimal(str(shop.shown()["b"]["price"])) == Decimal("2.5")


def test_a_run_without_changes_sends_nothing(shop):
    shop.sync("full")
    before = len(shop.sent())
    summary = shop.sync("delta")
    assert summary["state"] == "succeeded"
    assert len(shop.sent()) == before
    assert {row["state"] for row in summary["vendors"]} == {"unchanged"}


def test_a_rejected_sku_is_not_repeated_until_its_row_changes(shop):
    shop.sync("full")
    assert shop.sync("delta")["sent"] == 0
    shop.erp.put("store-001", "unknown", "7", 1, 1, None)
    assert shop.sync("delta")["rejected"] == 1
    assert shop.sync("delta")["sent"] == 0


def test_a_sku_that_appears_on_the_platform_is_accepted_by_the_next_full_sync(shop):
    shop.sync("full")
    shop.platform.put_products("store-001", [{**A, "sku": sku} for sku in ("a", "b", "c", "unknown")])
    assert shop.sync("full", "store-001")["rejected"] == 0
    assert shop.rows("SELECT vendor FROM ledger.rejection") == [("store-002",)]


def test_a_sku_that_left_the_extract_becomes_inactive(world):
    skus = [f"s{number:02}" for number in range(20)]
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in skus])
    for sku in skus:
        world.erp.put("store-001", sku)
    world.sync("full")
    world.erp.execute("DELETE FROM stock WHERE sku = 's03'")
    world.sync("delta")
    assert {sku for sku, row in world.shown().items() if not row["active"]} == {"s03"}
    assert world.sync("delta")["sent"] == 0


def test_a_sku_whose_key_comes_with_a_character_that_cannot_be_seen_stays_on_sale(world):
    skus = [f"s{number:02}" for number in range(20)]
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in skus])
    for sku in skus:
        world.erp.put("store-001", sku)
    world.sync("full")
    world.erp.execute("UPDATE stock SET sku = 's03\u00a0' WHERE sku = 's03'")
    world.erp.execute("UPDATE stock SET vendor = 'store-001\u200b' WHERE sku = 's04'")
    summary = world.sync("delta")
    assert (summary["sent"], summary["vendors"][0]["rows_quarantined"]) == (0, 2)
    assert [row["vendor"] for row in summary["vendors"]] == ["store-001"], "no store is invented"
    assert all(row["active"] for row in world.shown().values())
    rows = world.rows("SELECT vendor, sku, reason, message FROM warehouse.quarantine ORDER BY sku")
    assert [row[:3] for row in rows] == [
        ("store-001", "s03", "sku_invisible_character"),
        ("store-001", "s04", "vendor_odd"),
    ]
    assert "NO-BREAK SPACE (U+00A0)" in rows[0][3]
    assert "ZERO WIDTH SPACE (U+200B)" in rows[1][3]
    world.sync("full")
    assert all(row["active"] for row in world.shown().values()), "a full sync sends no removal of them either"


def test_a_store_cut_in_half_by_a_broken_extract_is_held_and_the_rest_flows(world):
    skus = [f"s{number:02}" for number in range(20)]
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in skus])
    for sku in skus:
        world.erp.put("store-001", sku)
    world.sync("full")
    world.erp.execute("DELETE FROM stock WHERE sku >= 's10'")
    world.erp.put("store-001", "s01", "5.00")
    summary = world.sync("delta")
    assert all(row["active"] for row in world.shown().values())
    assert Decimal(str(world.shown()["s01"]["price"])) == 5
    assert summary["vendors"][0]["changes_held"] == 10
    assert any("10 changes are held" in line for line in summary["lines"])


def test_a_vendor_without_a_row_is_a_failure_that_deactivates_nothing(shop):
    shop.sync("full")
    shop.erp.execute("DELETE FROM stock WHERE vendor = 'store-002'")
    shop.erp.put("store-001", "a", "3.00")
    summary = shop.sync("delta")
    assert summary["state"] == "partly_failed"
    assert "store-002" in summary["error"]
    assert all(row["active"] for row in shop.shown("store-002").values())
    assert Decimal(str(shop.shown("store-001")["a"]["price"])) == 3


def test_an_empty_erp_stops_the_run_before_anything_is_sent(shop):
    shop.sync("full")
    shop.erp.execute("DELETE FROM stock")
    before = len(shop.sent())
    with pytest.raises((DataError, IncompleteExtractError), match=r"no row|not one row"):
        shop.sync("delta")
    assert len(shop.sent()) == before


def test_bad_rows_are_quarantined_and_good_ones_go_on(shop):
    shop.erp.put("store-001", "b", "-0.0004")
    shop.erp.put("store-001", "c", "NaN")
    summary = shop.sync("full", "store-001")
    assert summary["state"] == "succeeded"
    rows = shop.rows("SELECT sku, field, reason FROM warehouse.quarantine ORDER BY sku")
    assert [row[:2] for row in rows] == [("b", "price"), ("c", "price")]
    assert summary["vendors"][0]["rows_raw"] == summary["vendors"][0]["rows_snapshot"] + 2


def test_a_stop_sell_goes_out_whatever_else_is_faulty_in_its_row(shop):
    """A sales limit of 0, and a price that cannot be read; the second run sends nothing again."""
    shop.sync("full")
    shop.erp.execute(
        "UPDATE stock SET quantity = 0, price = '4.44', max_sales_quantity = '0' WHERE vendor = 'store-001' AND sku = 'b'"
    )
    shop.erp.execute("UPDATE stock SET quantity = 0, price = 'n/a' WHERE vendor = 'store-001' AND sku = 'c'")
    summary = shop.sync("delta", "store-001")
    assert (summary["state"], summary["accepted"], summary["rejected"]) == ("succeeded", 2, 0)
    assert summary["vendors"][0]["values_left_out"] == 2
    assert shop.rows("SELECT sku, field, row_sent FROM warehouse.quarantine ORDER BY sku, field") == [
        ("b", "max_sales_quantity", True),
        ("c", "price", True),
    ]
    kept = dict(
        shop.rows(
            "SELECT sku, price || '/' || quantity FROM warehouse.baseline WHERE vendor = 'store-001' AND sku IN ('b', 'c')"
        )
    )
    assert kept["b"] == "4.440/0"
    assert kept["c"].endswith("/0")
    assert shop.sync("delta", "store-001")["sent"] == 0


def test_a_row_that_went_bad_does_not_deactivate_its_sku(shop):
    shop.sync("full")
    shop.erp.put("store-001", "b", "1,99")
    summary = shop.sync("delta", "store-001")
    assert summary["sent"] == 0
    assert shop.shown()["b"]["active"]


def test_a_vendor_the_platform_does_not_know_fails_alone(shop):
    shop.erp.put("store-999", "a")
    summary = shop.sync("full")
    assert summary["state"] == "partly_failed"
    [failed] = [row for row in summary["vendors"] if row["state"] == "failed"]
    assert failed["vendor"] == "store-999"
    assert "`shelfsync forget store-999 --reason TEXT`" in failed["error"]
    assert (summary["not_taken"], summary["open"]) == (1, 0), "nothing was taken, so no answer is to come"
    assert any(", 1 in requests that the platform rejected as a whole" in line for line in summary["lines"])
    assert Decimal(str(shop.shown("store-002")["a"]["price"])) == Decimal("1.234")


def test_a_dry_run_plans_and_sends_nothing(shop):
    summary = shop.sync("full", dry_run=True)
    assert shop.sent() == []
    assert {row["state"] for row in summary["vendors"]} == {"planned"}
    assert sum(row["plan_batches"] for row in summary["vendors"]) == 2
    assert shop.rows("SELECT count(*) FROM ledger.batch") == [(0,)]


def test_a_body_limit_makes_several_jobs_one_after_the_other(make_world):
    world = make_world(sync={"body_max_bytes": 400})
    skus = [f"s{number:03}" for number in range(40)]
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in skus])
    for sku in skus:
        world.erp.put("store-001", sku, "2.00")
    summary = world.sync("full")
    assert (summary["state"], summary["accepted"]) == ("succeeded", 40)
    assert all(entry["bytes_in"] <= 400 for entry in world.sent())
    assert len(world.sent()) == summary["jobs"] > 4
    assert {Decimal(str(row["price"])) for row in world.shown().values()} == {Decimal(2)}


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_runs_twice_finds_its_work_done(shop, step):
    run_id, vendors = shop.begin("full", upto="")
    for word in STEPS:
        if word == "confirm":
            shop.app.wait(run_id, vendors)
        shop.app.step(word, run_id, vendors)
        if word == step:
            assert shop.app.step(word, run_id, vendors)["done"] == 0
    summary = shop.app.report(run_id)
    assert (summary["state"], summary["accepted"], len(shop.sent())) == ("succeeded", 6, 2)


def test_every_step_again_after_the_end_changes_nothing(shop):
    run_id, vendors = shop.begin("full", upto="deliver")
    shop.app.wait(run_id, vendors)
    for word in ("confirm", "acknowledge"):
        shop.app.step(word, run_id, vendors)
    before = shop.app.report(run_id)
    for word in STEPS:
        shop.app.step(word, run_id, vendors)
    assert shop.app.report(run_id) == before
    assert len(shop.sent()) == 2


def test_an_old_run_that_is_run_again_sends_nothing(shop):
    old, vendors = shop.begin("full", upto="batch")
    shop.erp.put("store-001", "a", "8.00")
    shop.sync("full")
    before = len(shop.sent())
    report = shop.app.step("deliver", old, vendors)
    assert report["done"] == 0
    assert len(shop.sent()) == before
    assert Decimal(str(shop.shown()["a"]["price"])) == 8


def test_a_vendor_whose_last_job_is_open_is_left_to_the_next_run(shop):
    shop.platform.control("PUT", "settings", {"job_seconds": 3600})
    shop.begin("full", upto="deliver")
    shop.erp.put("store-001", "a", "8.00")
    second, _ = shop.begin("delta", upto="deliver")
    assert len(shop.sent()) == 2
    summary = shop.app.report(second)
    assert {row["state"] for row in summary["vendors"]} == {"busy"}
    assert shop.rows(f"SELECT count(*) FROM ledger.batch WHERE run_id = {second}") == [(0,)]


def test_a_run_begins_by_ending_what_an_earlier_one_left_open(shop):
    shop.begin("full", upto="deliver")
    shop.erp.put("store-001", "a", "8.00")
    delta, _ = shop.begin("delta", upto="acknowledge")
    assert Decimal(str(shop.shown()["a"]["price"])) == 8
    assert shop.app.report(delta)["state"] == "succeeded"


def test_a_dry_run_leaves_open_jobs_alone(shop):
    shop.begin("full", upto="deliver")
    before = shop.rows("SELECT job_id, state, polls FROM ledger.job ORDER BY job_id")
    dry = shop.app.open_run("delta", "dry", dry_run=True)
    assert shop.app.extract(dry)
    assert shop.rows("SELECT job_id, state, polls FROM ledger.job ORDER BY job_id") == before


def test_recover_finishes_what_a_dead_process_left_after_each_step(shop):
    for upto in ("batch", "deliver"):
        run_id, _ = shop.begin("full", upto=upto)
        for _ in range(20):
            report = shop.app.recover()
            if not report["open"] and not shop.rows("SELECT 1 FROM ledger.batch WHERE state = 'planned'"):
                break
        assert report["failed"] == {}
        summary = shop.app.report(run_id)
        assert (summary["state"], summary["accepted"], summary["rejected"]) == ("succeeded", 6, 2)


@pytest.mark.parametrize("bad", [1, 3])
def test_a_request_rejected_for_a_bad_row_is_halved_until_the_bad_row_is_alone(make_world, bad):
    """The platform has another name for the sales limit and rejects the whole request for it: only rows with a limit are bad."""
    world = make_world(platform={"sales_limit_name": "max_sales_quantity"})
    world.platform.control(
        "PUT", "settings", {"sales_limit_name": "maximum_sales_quantity", "other_sales_limit": "reject"}
    )
    poisoned = [f"s{number:02}" for number in (5, 6, 11)[:bad]]
    skus = [f"s{number:02}" for number in range(16)]
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in skus])
    for sku in skus:
        world.erp.put("store-001", sku, "2.00", 10, 1, 3 if sku in poisoned else None)
    summary = world.sync("full")
    assert (summary["accepted"], summary["rejected"]) == (16 - bad, bad)
    rejected = world.rows("SELECT sku, reason FROM ledger.rejection ORDER BY sku")
    assert [row.sku for row in rejected] == poisoned
    assert all("max_sales_quantity" in row.reason for row in rejected)
    assert len(world.sent()) <= 1 + 2 * bad * 4
    outcomes = world.rows("SELECT state, count(DISTINCT sku) FROM warehouse.sku_outcome GROUP BY 1 ORDER BY 1")
    assert outcomes == [("accepted", 16 - bad), ("rejected", bad)]
    assert world.sync("delta")["sent"] == 0


def test_a_platform_that_answers_a_single_item_at_once_is_believed_for_that_item(world):
    world.platform.control("PUT", "settings", {"single_item_answer": "sku"})
    world.platform.put_products("store-001", [A])
    world.erp.put("store-001", "a", "7.77")
    assert world.sync("full")["accepted"] == 1
    assert Decimal(str(world.shown()["a"]["price"])) == Decimal("7.77")
    assert world.sync("delta")["sent"] == 0


def test_by_barcode_that_answer_is_known_too_however_it_is_padded(make_world):
    world = make_world(platform={"item_key": "barcode"})
    world.platform.control("PUT", "settings", {"single_item_answer": "sku"})
    world.platform.put_products("store-001", [{**A, "barcodes": ["96385074"]}])
    world.erp.execute("INSERT INTO stock VALUES ('store-001', 'ours', '96385074', '7.77', 10, 1, NULL)")
    assert world.sync("full")["accepted"] == 1
    assert Decimal(str(world.shown()["a"]["price"])) == Decimal("7.77")
    assert world.sync("delta")["sent"] == 0


def test_a_job_that_has_ended_meanwhile_does_not_keep_its_vendor_from_the_next_run(shop):
    shop.begin("full", upto="deliver")
    shop.platform.until_quiescent()
    shop.erp.put("store-001", "a", "8.00")
    deadline = time.monotonic() + 20
    while (summary := shop.sync("delta"))["sent"] == 0 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert (summary["state"], summary["accepted"]) == ("succeeded", 1)
    assert Decimal(str(shop.shown()["a"]["price"])) == 8


def test_a_delta_lets_the_days_full_sync_pass(shop):
    full, vendors = shop.begin("full", upto="batch")
    shop.erp.put("store-001", "a", "8.00")
    summary = shop.sync("delta")
    assert {row["state"] for row in summary["vendors"]} == {"busy"}
    assert any(f"the full sync of run {full} is at work with this vendor" in line for line in summary["lines"])
    shop.app.step("deliver", full, vendors)
    shop.app.wait(full, vendors)
    for word in ("confirm", "acknowledge"):
        shop.app.step(word, full, vendors)
    assert shop.app.report(full)["accepted"] == 6
    assert shop.sync("delta")["sent"] == 1


def test_a_run_that_a_newer_one_went_past_is_superseded_and_not_failed(shop):
    old, _ = shop.begin("delta", upto="batch")
    shop.sync("full")
    summary = shop.app.report(old)
    assert (summary["state"], {row["state"] for row in summary["vendors"]}) == ("succeeded", {"superseded"})
