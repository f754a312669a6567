"""The life of a promotion from the ERP's table to the platform and the warehouse, over HTTP, a real database and a real lake."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from promotion_shop import SKUS, STORES
from shelfsync.cli.run_exit import run_error
from shelfsync.errors import ShelfsyncError, StaleRunError
from shelfsync.exit_codes import ExitCode
from shelfsync.promotions.steps import report


@pytest.mark.slow
def test_a_campaign_of_the_erp_is_what_customers_see(shop):
    shop.erp.put("c1", "a", "7.999")
    shop.erp.put("c1", "b", "5.5559")
    summary = shop.sync()
    assert (summary["state"], summary["pairs"]) == (
        "succeeded",
        {"sent": 2, "accepted": 2, "rejected": 0, "unaccounted": 0},
    )
    assert shop.seen() == {"a": 7.999, "b": 5.555}
    assert shop.seen("store-002") == {}
    assert shop.states() == ["Running"]
    assert shop.rows("SELECT campaign, state, skus, vendors FROM warehouse.promotion") == [("c1", "sent", 2, 1)]
    assert shop.rows("SELECT sku, value, known FROM warehouse.promotion_sku ORDER BY 1") == [
        ("a", Decimal("7.999"), True), ("b", Decimal("5.555"), True)
    ]  # fmt: skip
    assert shop.rows("SELECT sku, vendor, state FROM warehouse.promotion_outcome ORDER BY 1") == [
        ("a", "*", "accepted"),
        ("b", "*", "accepted"),
    ]


@pytest.mark.slow
def test_a_second_run_sends_nothing(shop):
    shop.erp.put("c1", "a", "8", vendor=None)
    shop.sync()
    before = shop.puts()
    summary = shop.sync()
    assert (summary["state"], shop.puts() - before, summary["counts"]["requests"]) == ("succeeded", 0, 0)


@pytest.mark.slow
def test_vendors_with_the_same_skus_and_prices_share_a_promotion_and_others_do_not(shop):
    shop.erp.put("c1", "a", "8", vendor=None)
    shop.erp.put("c1", "a", "7", vendor="store-003")
    shop.sync()
    assert [sorted(row["vendors"]) for row in shop.portal()] == [["store-001", "store-002"], ["store-003"]]
    assert [shop.seen(vendor) for vendor in STORES] == [{"a": 8.0}, {"a": 8.0}, {"a": 7.0}]


@pytest.mark.slow
def test_another_price_changes_the_running_promotion_and_one_sku_out_leaves_the_others(shop):
    for sku in ("a", "b", "c"):
        shop.erp.put("c1", sku, "8")
    shop.sync()
    shop.erp.put("c1", "a", "6")
    shop.erp.drop("c1", "b")
    shop.erp.put("c1", "d", "5")
    summary = shop.sync()
    assert summary["counts"]["changed"] == 1
    assert shop.seen() == {"a": 6.0, "c": 8.0, "d": 5.0}
    assert shop.states() == ["Running"]
    assert shop.rows(
        "SELECT sku, active FROM warehouse.promotion_outcome WHERE job_id = (SELECT max(job_id) FROM ledger.job) ORDER BY 1"
    ) == [
        ("a", True),
        ("b", False),
        ("d", True),
    ]


@pytest.mark.slow
def test_a_campaign_that_left_the_erp_is_ended_with_the_data_of_its_creation(shop):
    shop.erp.put("c1", "a", "8")
    shop.erp.put("c1", "b", "8")
    shop.erp.put("c2", "c", "8")
    shop.sync()
    shop.erp.put("c1", "a", "6")
    shop.sync()
    shop.erp.drop("c1")
    assert shop.sync()["counts"]["ended"] == 1
    assert shop.seen() == {"c": 8.0}
    assert sorted(shop.states()) == ["Cancelled", "Running"]
    bodies = shop.rows(
        "SELECT DISTINCT body_path FROM ledger.promotion_request WHERE promotion_id = 1 AND action IN ('create', 'end')"
    )
    assert len(bodies) == 1
    assert shop.sync()["counts"]["requests"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"name": "Another name"}, {"end_time": "2099-01-01T00:00:00+00:00"}])
def test_another_name_or_window_ends_the_old_promotion_and_makes_a_new_one(shop, change):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    shop.erp.change("c1", **change)
    summary = shop.sync()
    assert (summary["counts"]["created"], summary["counts"]["ended"]) == (1, 1)
    assert shop.states() == ["Cancelled", "Running"]
    assert shop.seen() == {"a": 8.0}
    assert shop.sync()["counts"]["requests"] == 0


@pytest.mark.slow
def test_a_vendor_that_joins_makes_another_promotion_because_vendors_are_part_of_its_identity(shop):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    shop.erp.put("c1", "a", "8", vendor="store-002")
    shop.sync()
    assert [(row["state"], row["vendors"]) for row in shop.portal()] == [
        ("Cancelled", ["store-001"]), ("Running", ["store-001", "store-002"])
    ]  # fmt: skip


@pytest.mark.slow
def test_what_was_ended_and_is_wanted_again_without_a_sku_does_not_bring_that_sku_back(shop):
    """The platform keeps the SKUs of a promotion that is not active."""
    shop.erp.put("c2", "d", "5")
    for sku in ("a", "b"):
        shop.erp.put("c1", sku, "8")
    shop.sync()
    for sku in ("a", "b"):
        shop.erp.drop("c1", sku)
    shop.sync()
    shop.erp.put("c1", "a", "6")
    shop.sync()
    assert shop.seen() == {"a": 6.0, "d": 5.0}
    assert shop.rows("SELECT sku FROM warehouse.promotion_sku ORDER BY sku") == [("a",), ("d",)]
    before = shop.puts()
    shop.sync()
    assert shop.puts() == before


@pytest.mark.slow
def test_what_was_ended_can_be_wanted_again(shop):
    shop.erp.put("c0", "d", "8")
    shop.erp.put("c1", "a", "8")
    shop.sync()
    shop.erp.drop("c1")
    shop.sync()
    shop.erp.put("c1", "a", "7")
    shop.sync()
    assert shop.seen() == {"a": 7.0, "d": 8.0}
    assert shop.rows("SELECT state FROM ledger.promotion WHERE campaign = 'c1'") == [("sent",)]


@pytest.mark.slow
def test_a_promotion_is_sent_before_it_begins_and_needs_nothing_when_its_time_is_over(make_shop):
    shop = make_shop()
    shop.erp.put("soon", "a", "8", start=1, end=2)
    shop.erp.put("past", "b", "8", start=-2, end=-1)
    shop.sync()
    assert shop.states() == ["Upcoming"]
    assert shop.seen() == {}
    assert [row["state"] for row in shop.world.app.promotions.status()["promotions"]] == ["upcoming"]


@pytest.mark.slow
def test_a_run_of_which_no_pair_was_accepted_has_failed(shop):
    shop.erp.put("c0", "stranger", "8", base_price="10")
    assert shop.sync()["state"] == "succeeded", "one wrong pair is a rejection and no failure"
    for number in range(1, report.JUDGED_PAIRS + 1):
        shop.erp.put(f"c{number}", f"stranger-{number}", "8", base_price="10")
    summary = shop.sync()
    assert (summary["state"], run_error(summary).exit_code) == ("failed", ExitCode.FAILURE)
    assert summary["error"] == "the platform rejected all 20 pairs, such as at store-001: missing SKU"
    assert shop.sync()["state"] == "succeeded", "what is rejected is not sent again"


@pytest.mark.slow
def test_a_run_whose_reading_failed_reports_why_until_one_is_read(shop):
    path = shop.world.app.promotions
    run = path.open_run("test/unread", dry_run=False)
    shop.world.erp.execute("ALTER TABLE promotion RENAME TO moved")
    with pytest.raises(ShelfsyncError):
        path.extract(run)
    assert "promotion" in path.report(run)["error"]
    assert (
        "no such table: promotion"
        in shop.rows("SELECT error FROM ledger.promotion_run ORDER BY run_id DESC LIMIT 1")[0][0]
    )
    shop.world.erp.execute("ALTER TABLE moved RENAME TO promotion")
    path.extract(path.open_run("test/unread", dry_run=False))
    path.plan(run)
    assert path.report(run)["error"] is None


@pytest.mark.slow
def test_an_unknown_vendor_is_reported_and_stops_no_other(shop):
    shop.erp.put("c1", "a", "8", vendor="store-404", base_price="10")
    shop.erp.put("c2", "b", "8")
    summary = shop.sync()
    assert summary["pairs"] == {"sent": 2, "accepted": 1, "rejected": 1, "unaccounted": 0}
    assert summary["state"] == "partly_failed"
    assert summary["error"].startswith("the platform does not know 1 vendors (store-404) and rejected all 1 pairs")
    assert summary["rejected_by_vendor"] == [
        {"vendor": "store-404", "reason": "invalid vendor", "promotions": 1, "pairs": 1}
    ]
    assert "rejected: 1 pairs: invalid vendor, at vendors store-404 (1)" in summary["lines"]
    assert run_error(summary).exit_code == ExitCode.PARTLY
    assert shop.rows("SELECT vendor, reason FROM warehouse.promotion_outcome WHERE state = 'rejected'") == [
        ("store-404", "invalid vendor")
    ]
    assert shop.rows("SELECT campaign, state FROM ledger.promotion ORDER BY 1") == [("c1", "failed"), ("c2", "sent")]
    before = shop.puts()
    assert shop.sync()["state"] == "succeeded", "a run that sends nothing rejects nothing"
    assert shop.puts() == before
    shop.erp.put("c1", "a", "7", vendor="store-404", base_price="10")
    assert shop.sync()["state"] == "failed", "the platform accepted no pair of it"


@pytest.mark.slow
def test_a_deep_discount_a_loss_and_a_wide_campaign_are_held_until_a_person_approves_exactly_them(make_shop):
    shop = make_shop(promotions={"assortment_share_max": 0.5})
    shop.erp.put("deep", "a", "1", vendor=None)
    shop.erp.put("loss", "b", "5", cost="6")
    shop.erp.put("fair", "c", "8.5")
    summary = shop.sync()
    assert summary["counts"]["held"] == 4
    assert shop.seen() == {"c": 8.5}
    path = shop.world.app.promotions
    assert [(row["campaign"], row["rule"], row["vendor"]) for row in path.status()["held"]] == [
        ("deep", "discount", "store-001"), ("loss", "offer_below_cost", "store-001"), ("deep", "discount", "store-002"), ("deep", "discount", "store-003")
    ]  # fmt: skip
    assert path.decide("deep", rule=None, approve=True, by="anna") == 3
    assert path.decide("loss", rule="offer_below_cost", approve=False, by="anna") == 1
    shop.sync()
    assert shop.seen() == {"a": 1.0, "c": 8.5}
    assert path.status()["held"] == []
    shop.erp.put("deep", "a", "0.5", vendor=None)
    shop.sync()
    assert shop.seen()["a"] == 1.0, "the acknowledged price stays while another price is held"
    assert len(path.status()["held"]) == 3


@pytest.mark.slow
def test_many_promotions_that_vanish_at_once_are_held(shop):
    for number, sku in enumerate(SKUS):
        shop.erp.put(f"c{number}", sku, "8")
    shop.sync()
    for number in range(3):
        shop.erp.drop(f"c{number}")
    shop.sync()
    assert shop.states() == ["Running"] * 4
    assert [row["campaign"] for row in shop.world.app.promotions.status()["held"]] == ["*"]
    shop.world.app.promotions.decide("*", rule=None, approve=True, by="anna")
    shop.sync()
    assert shop.seen() == {"d": 8.0}


@pytest.mark.slow
def test_an_emptied_table_of_promotions_is_believed_and_its_ends_are_held(shop):
    shop.erp.put("c1", "a", "8")
    shop.erp.put("c2", "b", "8")
    shop.sync()
    shop.erp.drop("c1")
    shop.erp.drop("c2")
    assert shop.sync()["state"] == "succeeded"
    assert shop.states() == ["Running"] * 2


@pytest.mark.slow
def test_a_row_that_cannot_be_meant_leaves_its_sku_as_acknowledged_and_a_head_freezes_its_campaign(shop):
    for sku in ("a", "b"):
        shop.erp.put("c1", sku, "8", vendor=None)
    shop.erp.put("c2", "c", "8")
    shop.sync()
    shop.erp.put("c1", "a", "7,5", vendor=None)
    shop.erp.put("c1", "b", "7", vendor=None)
    shop.erp.change("c2", end_time="tomorrow")
    before = len(shop.portal())
    shop.sync()
    assert shop.seen() == {"a": 8.0, "b": 7.0, "c": 8.0}
    assert len(shop.portal()) == before
    quarantined = shop.rows(
        "SELECT vendor, sku, reason FROM warehouse.promotion_quarantine WHERE run_id = 2 ORDER BY sku"
    )
    assert quarantined == [("*", "a", "price_decimal_comma"), ("store-001", "c", "end_time_not_a_time")]


@pytest.mark.slow
def test_a_price_not_below_the_base_price_and_an_overlap_are_not_sent(shop):
    shop.erp.put("c1", "a", "10")
    shop.erp.put("c2", "b", "8", start=-2)
    shop.erp.put("c3", "b", "7", start=-1)
    shop.erp.put("c4", "c", "8", start=-2)
    shop.erp.put("c5", "c", "7", start=-1, overlap="true")
    shop.erp.put("c6", "d", "8", base_price="7.5")
    shop.sync()
    assert shop.seen() == {"b": 8.0, "c": 7.0}
    quarantined = shop.rows("SELECT sku, reason FROM warehouse.promotion_quarantine ORDER BY sku")
    assert quarantined == [("a", "price_not_below_base"), ("b", "overlap"), ("d", "price_not_below_base")]


@pytest.mark.slow
def test_campaigns_with_one_name_and_period_are_one_promotion_and_get_numbers_where_they_do_not_fit(make_shop):
    shop = make_shop(promotions={"values": "spec"})
    shop.erp.put("c1", "a", "8", name="Spring")
    shop.erp.put("c2", "b", "7", name="Spring")
    shop.erp.put("c3", "c", "100", name="Spring", discount_type="PERCENTAGE", **bundle(1, 1))
    shop.erp.put("c4", "d", "50", name="Spring", discount_type="PERCENTAGE", **bundle(2, 1))
    shop.sync()
    assert shop.seen() == {"a": 8.0, "b": 7.0, "c": 0.0, "d": 5.0}
    names = {row["display_name"]["en_GB"]: row["type"] for row in shop.portal()}
    assert names == {"Spring": "STRIKETHROUGH", "Spring (2)": "SAME_ITEM_BUNDLE", "Spring (3)": "SAME_ITEM_BUNDLE"}
    before = shop.puts()
    assert shop.sync()["counts"]["requests"] == 0
    shop.erp.put("c2", "b", "8,50", name="Spring")  # garbled: it keeps what it has
    shop.erp.drop("c1")
    shop.sync()
    assert shop.seen() == {"b": 7.0, "c": 0.0, "d": 5.0}
    for campaign in ("c2", "c3"):
        shop.erp.drop(campaign)
        shop.sync()
    assert shop.seen() == {"d": 5.0}
    assert shop.puts() == before + 3, "the name of what runs stays, whatever else leaves"
    assert [row["display_name"]["en_GB"] for row in shop.portal() if row["state"] == "Running"] == ["Spring (3)"]


def bundle(bought: int, discounted: int) -> dict[str, Any]:
    return {"type": "SAME_ITEM_BUNDLE", "purchased_quantity": bought, "discounted_quantity": discounted}


@pytest.mark.slow
def test_a_faulty_campaign_leaves_what_is_merged_with_it_as_it_is(shop):
    shop.erp.put("c1", "a", "8", name="Spring")
    shop.erp.put("c2", "b", "7", name="Spring")
    shop.sync()
    shop.erp.put("c1", "a", "6", name="Spring")
    shop.erp.change("c2", reason="NONE_SUCH")
    shop.sync()
    assert shop.seen() == {"a": 8.0, "b": 7.0}


@pytest.mark.slow
def test_values_beyond_the_interface_are_sent_where_the_dialect_has_them(make_shop):
    shop = make_shop(promotions={"values": "spec"})
    shop.world.platform.control(
        "PUT", "settings", {"promotion_propagation_s": 0.0, "propagation_s": 0.0, "promotion_values": "published"}
    )
    shop.erp.put(
        "c1", "a", "25", discount_type="percentage", reason="overstock", max_quantity="3", max_items_per_order="5"
    )
    shop.erp.put("c2", "b", "2.5", discount_type="ABSOLUTE", name={"en_GB": "Two", "de_DE": "Zwei"})
    assert shop.sync()["state"] == "succeeded"
    assert shop.seen() == {"a": 7.5, "b": 7.5}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["no_job_id", "job_id_of_another", "unknown_status"])
def test_an_answer_that_cannot_be_believed_is_no_success_and_is_made_up_for(make_shop, kind):
    shop = make_shop(promotions={"job_deadline_s": 1.0})
    shop.erp.put("c0", "b", "8")
    shop.sync()
    shop.erp.put("c1", "a", "8")
    at = "promotion_status" if kind == "unknown_status" else "put_promotion"
    shop.world.platform.faults({"at": at, "kind": kind, "times": 50 if kind == "unknown_status" else 1})
    # where no job was named the same is sent again, and the job of the repeat is asked about, if need be past its deadline
    assert shop.sync()["pairs"]["accepted"] == (1 if kind == "no_job_id" else 0)
    shop.world.platform.faults()
    for _ in range(2):
        with shop.world.app.context.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE ledger.promotion SET retry_at = NULL")
        shop.sync()
    assert shop.seen() == {"a": 8.0, "b": 8.0}
    assert shop.rows("SELECT count(*) FROM warehouse.promotion_sku WHERE NOT known") == [(0,)]


@pytest.mark.slow
def test_a_request_rejected_as_a_whole_is_reported_and_waits(shop):
    shop.erp.put("c1", "a", "8")
    shop.erp.put("c2", "b", "8")
    shop.world.platform.faults({"at": "put_promotion", "kind": "status_400", "times": 1})
    summary = shop.sync()
    assert summary["state"] == "partly_failed"
    assert list(shop.seen().values()) == [8.0]
    before = shop.puts()
    shop.sync()
    assert shop.puts() == before


@pytest.mark.slow
def test_nothing_is_sent_while_a_person_has_stopped_it_and_it_goes_on_after(shop):
    shop.erp.put("c1", "a", "8")
    app = shop.world.app
    app.pause("vendor", "store-001", why="stocktaking", who="anna")
    summary = shop.sync()
    assert (shop.puts(), shop.seen()) == (0, {})
    assert any("stocktaking" in line for line in summary["lines"])
    app.resume("vendor", "store-001", why="done", who="anna")
    assert shop.world.app.promotions.recover()["delivered"] == 1
    shop.sync()
    assert shop.seen() == {"a": 8.0}


@pytest.mark.slow
def test_a_large_promotion_goes_out_in_pieces_that_are_one_promotion_and_ends_with_the_first(make_shop):
    shop = make_shop(promotions={"pairs_max": 2, "ended_share_max": 1.0})
    for sku in SKUS:
        shop.erp.put("c1", sku, "8")
    summary = shop.sync()
    assert summary["counts"]["requests"] == 2
    assert shop.seen() == dict.fromkeys(SKUS, 8.0)
    assert len(shop.portal()) == 1
    shop.erp.drop("c1")
    shop.sync()
    assert shop.states() == ["Cancelled"]


@pytest.mark.slow
def test_a_run_cleared_after_a_newer_one_has_planned_sends_nothing(shop):
    path = shop.world.app.promotions
    shop.erp.put("c1", "a", "8")
    old = path.open_run("old")
    path.extract(old)
    shop.erp.put("c1", "a", "7")
    shop.sync()
    with pytest.raises(StaleRunError):
        path.plan(old)
    path.deliver()
    assert shop.seen() == {"a": 7.0}
    assert path.report(old)["state"] == "superseded"


@pytest.mark.slow
def test_what_does_not_fit_the_catalog_is_found_with_its_cause_and_gone_when_it_fits(shop):
    for sku, price in (("a", "8"), ("b", "8"), ("c", "8")):
        shop.erp.put("c1", sku, price)
    shop.sync()
    shop.world.erp.put("store-001", "a", "7.00")
    shop.world.erp.put("store-001", "b", "12.00")
    shop.world.erp.put("store-001", "c", "10.00", active=0)
    shop.world.sync()
    assert shop.sync()["findings"] == {"base_price_changed": 2, "base_price_not_above": 1, "inactive_during": 1}
    shop.world.erp.put("store-001", "c", "10.00", active=1)
    shop.world.sync()
    assert "inactive_during" not in shop.sync()["findings"]
