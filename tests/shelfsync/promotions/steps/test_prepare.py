"""Promotions with the care of the catalog: what is absent, held, out of scope or stopped changes nothing on the platform."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from partner_api import ClientCredentials, PartnerClient
from promotion_shop import SKUS, STORES
from shelfsync.catalog.steps.close_store import forget
from shelfsync.cli import decide
from shelfsync.platform.kill_switch import SwitchedGate
from shelfsync.promotions.steps.deliver import deliver

HEADER = "campaign,vendor,sku,price,name,start_time,end_time\n"
_keys = itertools.count(1)


def export(shop: Any) -> None:
    shop.world.app.export(f"care/{next(_keys)}", STORES, progress=lambda *_: None)


@pytest.mark.slow
def test_absence_from_an_extract_not_proven_complete_removes_nothing_and_ends_nothing(make_shop, tmp_path):
    file, control = tmp_path / "promotions.csv", tmp_path / "rows.txt"
    rows = [
        ("c1", "store-001", "a"),
        ("c1", "store-001", "b"),
        ("c1", "store-002", "a"),
        ("c1", "store-002", "b"),
        ("c2", "store-001", "c"),
    ]

    def write(rows, price="8"):
        window = "2020-01-01T00:00:00Z,2099-01-01T00:00:00Z"
        lines = [f"{campaign},{vendor},{sku},{price},Offer {campaign},{window}\n" for campaign, vendor, sku in rows]
        file.write_text(HEADER + "".join(lines), "utf-8")
        control.write_text(f"{len(rows)}\n", "utf-8")

    write(rows)
    proven = make_shop(promotions={"sql": None, "files": str(file), "control_file": str(control)})
    assert proven.sync()["state"] == "succeeded"
    unproven = make_shop(promotions={"sql": None, "files": str(file)})
    before = proven.seen(), proven.seen("store-002"), proven.states()
    assert before == ({"a": 8.0, "b": 8.0, "c": 8.0}, {"a": 8.0, "b": 8.0}, ["Running", "Running"])
    write(rows[:1] + rows[2:])  # a SKU of one vendor is absent
    unproven.sync()
    write(rows[:2])  # a vendor and a campaign are absent
    summary = unproven.sync()
    assert (proven.seen(), proven.seen("store-002"), proven.states()) == before
    assert any("not proven complete" in line for line in summary["lines"])
    write(rows, price="7")  # what is there is believed
    unproven.sync()
    assert proven.seen() == {"a": 7.0, "b": 7.0, "c": 7.0}
    write(rows[:2], price="7")
    proven.sync()
    assert (proven.seen(), proven.seen("store-002")) == ({"a": 7.0, "b": 7.0}, {})


@pytest.mark.slow
def test_a_running_promotion_does_not_end_because_its_other_window_is_held(shop):
    shop.erp.put("c1", "a", "1")
    shop.erp.put("c1", "b", "8")
    shop.sync()
    path = shop.world.app.promotions
    path.decide("c1", rule=None, approve=True, by="anna")
    shop.sync()
    assert shop.seen() == {"a": 1.0, "b": 8.0}
    shop.erp.change("c1", end_time="2099-01-01T00:00:00+00:00")
    summary = shop.sync()
    assert shop.seen() == {"a": 1.0, "b": 8.0}
    assert shop.states() == ["Running"]
    assert any("campaign c1: left alone" in line and "held" in line for line in summary["lines"])
    path.decide("c1", rule=None, approve=True, by="anna")
    shop.sync()
    assert shop.seen() == {"a": 1.0, "b": 8.0}
    assert shop.states() == ["Cancelled", "Running"]


@pytest.mark.slow
@pytest.mark.parametrize("price", ["1", "8,50"], ids=["held", "quarantined"])
def test_a_promotion_ends_though_a_row_of_its_earlier_end_is_faulty_once_that_end_is_past(shop, price):
    """No person has to decide about an offer that is over; and customers still get the old one."""
    for sku in ("a", "b"):
        shop.erp.put("c1", sku, "8", start=-5)
    shop.sync()
    assert shop.seen() == {"a": 8.0, "b": 8.0}
    shop.erp.put("c1", "a", price, start=-5, end=-1)
    shop.erp.put("c1", "b", "8", start=-5, end=-1)
    summary = shop.sync()
    assert (shop.seen(), shop.states()) == ({}, ["Cancelled"])
    assert summary["counts"]["held"] == 0


@pytest.mark.slow
def test_a_running_promotion_does_not_end_because_the_row_of_its_other_name_is_garbled(shop):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    shop.erp.put("c1", "a", "8,50", name="Another")
    shop.sync()
    assert (shop.seen(), shop.states()) == ({"a": 8.0}, ["Running"])
    shop.erp.put("c1", "a", "8.50", name="Another")
    shop.sync()
    assert (shop.seen(), shop.states()) == ({"a": 8.5}, ["Cancelled", "Running"])


@pytest.mark.slow
def test_vendors_outside_the_setting_keep_their_promotions(make_shop):
    shop = make_shop()
    shop.erp.put("all", "a", "8", vendor=None)
    shop.erp.put("one", "b", "8", vendor="store-001")
    shop.erp.put("two", "b", "8", vendor="store-002")
    shop.sync()
    pilot = make_shop(sync={"vendors": ("store-001",), "poll_first_s": 0.05, "poll_max_s": 0.2})
    shop.erp.put("one", "b", "7", vendor="store-001")
    summary = pilot.sync()
    assert (shop.seen("store-001"), shop.seen("store-002")) == ({"a": 8.0, "b": 7.0}, {"a": 8.0, "b": 8.0})
    assert shop.states() == ["Running"] * 3
    assert any("campaign all: left alone" in line and "SHELFSYNC_SYNC__VENDORS" in line for line in summary["lines"])


@pytest.mark.slow
def test_a_run_whose_requests_did_not_leave_has_not_succeeded(shop):
    shop.erp.put("c1", "a", "8")
    shop.world.platform.faults({"at": "put_promotion", "kind": "status_503", "times": 50})
    path = shop.world.app.promotions
    run = path.open_run("undelivered")
    path.extract(run)
    path.plan(run)
    path.deliver()
    summary = path.report(run)
    assert summary["state"] == "failed"
    assert "1 of 1 requests" in summary["error"]


class _SlowGate:
    """A gate with a late slot: before it, an operator stops a vendor."""

    def __init__(self, app) -> None:
        self._app = app

    def admit(self, operation, priority, vendors) -> None:
        if operation == "put_promotion":
            self._app.pause("vendor", "store-002", why="stocktaking", who="anna")

    def report(self, operation, status, retry_after_s, blocked) -> None:
        """Nothing to remember."""

    def unanswered(self, operation, reason) -> None:
        """Nothing to remember."""

    def done(self, operation, priority, used) -> None:
        """Nothing to give back."""


@pytest.mark.slow
def test_a_person_who_stops_a_vendor_stops_the_request_that_waits_for_its_slot(shop):
    app = shop.world.app
    shop.erp.put("c1", "a", "8", vendor=None)
    shop.erp.put("c2", "b", "8")
    run = app.promotions.open_run("stopped")
    app.promotions.extract(run)
    app.promotions.plan(run)
    gate = SwitchedGate(_SlowGate(app), app.context.engine, "demo-chain")
    credentials = ClientCredentials("demo-client", SecretStr("demo-secret"))
    client = PartnerClient(shop.world.platform.base_url, "demo-chain", credentials, gate=gate)
    sent = deliver(dataclasses.replace(app.context, open_platform=lambda: client))
    client.close()
    assert (shop.puts(), sent.done) == (1, 1)
    assert "stocktaking" in sent.paused["c1"]
    assert shop.rows("SELECT state, attempts FROM ledger.job WHERE kind = 'promotion' ORDER BY job_id") == [
        ("planned", 0),
        ("open", 1),
    ]
    app.resume("vendor", "store-002", why="done", who="anna")
    app.promotions.deliver()
    app.promotions.wait(run)
    app.promotions.confirm()
    assert shop.seen() == {"a": 8.0, "b": 8.0}


@pytest.mark.slow
def test_a_price_below_the_cost_that_the_catalog_knows_is_held(make_shop, erp):
    erp.execute("ALTER TABLE stock ADD COLUMN cost TEXT DEFAULT '8.50'")
    erp.put = lambda vendor, sku, price: erp.execute(
        "INSERT INTO stock (vendor, sku, price, quantity, active) VALUES (?, ?, ?, 10, 1)", vendor, sku, price
    )
    shop = make_shop(erp={"url": erp.url, "sql": "SELECT vendor, sku, price, quantity, active, cost FROM stock"})
    shop.erp.put("c1", "a", "8")
    shop.erp.put("c1", "b", "9")
    shop.erp.put("c1", "c", "8", cost="7")
    shop.sync()
    assert shop.seen() == {"b": 9.0, "c": 8.0}, (
        "the cost of the promotion's row takes precedence over the cost of the catalog"
    )
    held = shop.world.app.promotions.status()["held"]
    assert [(row["rule"], row["rows"]) for row in held] == [("offer_below_cost", 1)]


@pytest.mark.slow
def test_a_price_of_a_sku_that_no_sync_has_acknowledged_is_compared_with_the_erps_own(shop):
    for sku in "ef":
        shop.world.erp.put("store-001", sku, "10.00")
    shop.world.sync()  # the platform does not know the SKUs yet, and rejects them
    titled = {"title": "new", "price": 9.0, "active": True}
    shop.world.platform.put_products("store-001", [{"sku": sku, **titled} for sku in "ef"])
    shop.erp.put("c1", "e", "0.10")
    shop.erp.put("c1", "f", "8")
    shop.sync()
    assert shop.seen() == {"f": 8.0}
    held = shop.world.app.promotions.status()["held"]
    assert [(row["rule"], row["rows"]) for row in held] == [("discount", 1)]


@pytest.mark.slow
def test_a_price_for_all_vendors_is_compared_with_others_where_the_erp_lacks_the_sku(shop):
    shop.world.erp.put("store-001", "e", "10.00")
    products = [{"sku": sku, "title": sku, "price": 9.0, "active": True} for sku in (*SKUS, "e")]
    for vendor in ("store-001", "store-002"):
        shop.world.platform.put_products(vendor, products)
    shop.world.sync()
    shop.erp.put("c1", "e", "0.10", vendor="*")
    shop.erp.put("c2", "a", "8", vendor="*")
    shop.sync()
    assert (shop.seen("store-001"), shop.seen("store-002")) == ({"a": 8.0}, {"a": 8.0})
    held = shop.world.app.promotions.status()["held"]
    assert {(row["rule"], row["vendor"]) for row in held} == {("discount", vendor) for vendor in STORES}
    for row in held:
        price = "10.00 → 0.10" if row["vendor"] == "store-001" else "0.10"
        assert price in shop.world.app.holds.question(row["hold_id"], pages=None)["body"]
    assert "10.00" not in shop.world.app.holds.question(held[1]["hold_id"], pages=None)["body"], (
        "a price of another store"
    )


@pytest.mark.slow
def test_a_price_of_a_sku_that_the_erp_has_at_no_store_waits_until_the_catalog_has_it(shop):
    shop.erp.put("c1", "later", "8")
    shop.erp.put("c2", "never", "0.10", vendor="*")
    shop.erp.put("c3", "a", "8")
    summary = shop.sync()
    assert (shop.seen(), summary["pairs"]["rejected"]) == ({"a": 8.0}, 0)
    assert "4 rows wait for base prices of 3 vendors" in "\n".join(summary["lines"])
    shop.world.erp.put("store-001", "later", "10.00")
    titled = {"title": "new", "price": 10.0, "active": True}
    shop.world.platform.put_products("store-001", [{"sku": sku, **titled} for sku in (*SKUS, "later")])
    shop.world.sync()
    shop.sync()
    assert shop.seen() == {"a": 8.0, "later": 8.0}


@pytest.mark.slow
def test_a_store_without_a_known_assortment_gets_no_campaign(make_shop):
    shop = make_shop()
    for number in range(30):
        shop.world.erp.put("store-004", f"n{number}", "10.00")
        shop.erp.put("all", f"n{number}", "8", vendor="store-004")
    shop.world.begin("delta", upto="batch")
    assert "30 rows wait for base prices of 1 vendors (store-004)" in "\n".join(shop.sync()["lines"])


@pytest.mark.slow
def test_a_price_waits_while_the_erps_own_price_of_its_sku_is_quarantined(shop):
    shop.world.erp.put("store-001", "e", "ten")
    shop.world.platform.put_products("store-001", [{"sku": "e", "title": "new", "price": 9.0, "active": True}])
    shop.world.sync()
    shop.erp.put("c1", "e", "0.10")
    assert "1 rows wait for base prices of 1 vendors (store-001)" in "\n".join(shop.sync()["lines"])
    assert shop.seen() == {}


@pytest.mark.slow
def test_an_export_from_before_the_base_price_rose_rejects_no_promotion(shop):
    shop.world.erp.put("store-001", "a", "7.00")
    shop.world.sync()
    export(shop)
    shop.world.erp.put("store-001", "a", "10.00")
    shop.world.sync()
    shop.erp.put("c1", "a", "8")
    assert shop.sync()["state"] == "succeeded"
    assert shop.seen() == {"a": 8.0}


@pytest.mark.slow
def test_a_campaign_rejected_for_its_overlap_blocks_no_third_one(shop):
    shop.erp.put("c1", "a", "8", start=-3, end=2)
    shop.erp.put("c2", "a", "7", start=-2, end=5)
    shop.erp.put("c3", "a", "6", start=3, end=8)
    shop.sync()
    assert sorted(row["display_name"]["en_GB"] for row in shop.portal()) == ["Offer c1", "Offer c3"]


@pytest.mark.slow
def test_a_promotion_does_not_end_before_the_one_that_takes_its_place_is_taken(shop):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    shop.erp.change("c1", name="Another")
    shop.world.platform.faults({"at": "put_promotion", "kind": "status_400", "times": 1})
    assert shop.sync()["state"] == "partly_failed"
    assert (shop.seen(), shop.states()) == ({"a": 8.0}, ["Running"])
    summary = shop.sync()
    assert shop.states() == ["Running"]
    assert any("its replacement is not created yet" in line for line in summary["lines"])
    with shop.world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.promotion SET retry_at = NULL")
    shop.sync()
    assert (shop.seen(), shop.states()) == ({"a": 8.0}, ["Cancelled", "Running"])


@pytest.mark.slow
def test_a_promotion_does_not_end_while_a_person_has_stopped_the_one_that_takes_its_place(shop):
    shop.erp.put("c1", "a", "8")
    shop.sync()
    shop.erp.put("c1", "a", "8", vendor="store-002")
    app = shop.world.app
    app.pause("vendor", "store-002", why="stocktaking", who="anna")
    shop.sync()
    assert (shop.seen(), shop.states()) == ({"a": 8.0}, ["Running"])
    app.resume("vendor", "store-002", why="done", who="anna")
    shop.sync()
    assert (shop.seen(), shop.seen("store-002")) == ({"a": 8.0}, {"a": 8.0})
    assert shop.states() == ["Cancelled", "Running"]


@pytest.mark.slow
def test_a_declined_campaign_is_counted_and_no_question_until_it_changes(shop):
    for number, sku in enumerate("abc"):
        shop.erp.put(f"c{number}", sku, "1")
    path = shop.world.app.promotions
    assert [line for line in shop.sync()["lines"] if line.startswith("held")]
    for campaign in ("c0", "c1"):
        path.decide(campaign, rule=None, approve=False, by="ada")
    for dry_run in (True, False):
        summary = shop.sync(dry_run=dry_run)
        (question,) = [line for line in summary["lines"] if line.startswith("held")]
        assert "campaign c2" in question
        assert "declined: 2 campaigns, not sent until they change" in summary["lines"]
        assert (summary["counts"]["held"], summary["counts"]["campaigns_declined"]) == (3, 2)
    shop.erp.put("c0", "a", "2")
    lines = shop.sync()["lines"]
    assert any(line.startswith("held (discount)") and "campaign c0" in line for line in lines)
    assert "declined: 1 campaign, not sent until it changes" in lines
    assert path.decide("c1", rule=None, approve=True, by="ada") == 0, "the decision stands"
    assert path.reopen("c1", by="ada", why="the flyer is right") == 1, "a person changes her mind"
    assert path.decide("c1", rule=None, approve=True, by="ada") == 1
    shop.sync()
    assert shop.seen() == {"b": 1.0}


@pytest.mark.slow
def test_the_list_of_holds_names_what_was_declined_and_how_to_take_it_back(shop, monkeypatch):
    shop.erp.put("c1", "a", "1")
    shop.sync()
    path = shop.world.app.promotions
    path.decide("c1", rule=None, approve=False, by="ada")
    monkeypatch.setattr(decide, "opened", lambda: contextlib.nullcontext(shop.world.app.context))
    (line,) = decide.list_holds("held").lines
    assert line.split()[:5] == ["1", "declined", "promotions", "store-001", "discount"]
    late = decide.approve([1], yes=True)
    assert "declined by ada at " in str(late.error)
    assert "`shelfsync holds reopen 1 --reason TEXT` opens it again" in str(late.error)
    path.reopen("c1", by="ada", why="the flyer is right")
    path.decide("c1", rule=None, approve=True, by="ada")
    assert decide.list_holds("held").lines == ["no hold is held"]


@pytest.mark.slow
def test_a_report_that_is_made_again_does_not_move_the_end_of_its_run(shop):
    shop.erp.put("c1", "a", "8")
    run_id = shop.sync()["run"]
    ended = shop.world.rows("SELECT state, finished_at FROM ledger.promotion_run")
    shop.world.app.promotions.report(run_id)
    assert shop.world.rows("SELECT state, finished_at FROM ledger.promotion_run") == ended


def _three_of_four_leave(shop):
    for number, sku in enumerate("abcd"):
        shop.erp.put(f"c{number}", sku, "8")
    shop.sync()
    for number in range(3):
        shop.erp.drop(f"c{number}")


@pytest.mark.slow
def test_the_declined_end_of_many_is_counted_and_no_question_until_another_leaves(shop):
    _three_of_four_leave(shop)
    path = shop.world.app.promotions
    assert any(line.startswith("held (ended)") for line in shop.sync()["lines"])
    path.decide("*", rule=None, approve=False, by="ada")
    lines = shop.sync()["lines"]
    assert not any(line.startswith("held (ended)") for line in lines)
    assert "declined: the end of 3 promotions, which stay until the ERP changes them" in lines
    assert set(shop.seen()) == set("abcd")


@pytest.mark.slow
def test_an_approved_end_of_many_stands_though_another_promotion_leaves_or_one_is_over_meanwhile(shop):
    _three_of_four_leave(shop)
    path = shop.world.app.promotions
    assert shop.sync()["waits"]["holds"] == 1
    path.decide("*", rule=None, approve=True, by="ada")
    shop.erp.change("c3", name="Another")
    shop.erp.drop("c3")
    shop.erp.put("c4", "d", "8", name="Later")
    summary = shop.sync()
    assert (summary["counts"]["ended"], shop.seen(), summary["waits"]) == (4, {"d": 8.0}, None)
    for number in range(3):
        shop.erp.put(f"c{number}", "abc"[number], "8")
    shop.sync()
    for number in range(3):
        shop.erp.drop(f"c{number}")
    summary = shop.sync()
    assert (len(shop.seen()), summary["waits"]["holds"]) == (4, 1), "the approval was for the first time"


@pytest.mark.slow
def test_many_promotions_of_one_campaign_that_lose_their_stores_or_days_are_held(shop):
    """A lost join of the ERP, as likely as a lost campaign: what is left of the campaign takes no place of theirs."""
    for number, store in enumerate(STORES):
        shop.erp.put("c", "a", f"{8 - number}", vendor=store)
    shop.erp.put("c", "b", "8", start=24 * 5, end=24 * 9)
    shop.sync()
    for store in STORES[1:]:
        shop.erp.drop("c", vendor=store)
    shop.erp.drop("c", "b")
    summary = shop.sync()
    assert (summary["counts"]["ended"], summary["waits"]["holds"]) == (0, 1)
    assert [shop.seen(store) for store in STORES] == [{"a": 8.0}, {"a": 7.0}, {"a": 6.0}]


@pytest.mark.slow
def test_a_held_offer_wins_over_no_other_campaign_until_it_is_approved(make_shop):
    """Otherwise a mistyped price ends the right offer, also after a person has declined it."""
    shop = make_shop(promotions={"overlap": "lowest_price"})
    shop.erp.put("right", "a", "8")
    shop.sync()
    shop.erp.put("typo", "a", "1")
    path = shop.world.app.promotions
    for decided in (False, True):
        summary = shop.sync()
        assert (shop.seen(), summary["counts"]["held"]) == ({"a": 8.0}, 1)
        if not decided:
            path.decide("typo", rule=None, approve=False, by="ada")
    shop.world.app.holds.reopen(1, who="ada", why="the flyer is right")
    path.decide("typo", rule=None, approve=True, by="ada")
    summary = shop.sync()
    assert (shop.seen(), summary["counts"]["overlaps_lost"]) == ({"a": 1.0}, 1)
    shop.erp.put("typo", "a", "0.5")
    assert shop.sync()["counts"]["held"] == 1
    assert shop.seen() == {"a": 1.0}, "the platform has the SKU in this campaign, so it still wins"


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["discount", "ended"])
def test_what_is_left_of_a_declined_hold_stays_declined(shop, rule):
    path = shop.world.app.promotions
    for number, sku in enumerate("abcd"):
        shop.erp.put("c" if rule == "discount" else f"c{number}", sku, "1" if rule == "discount" else "8")
    shop.sync()
    for number in range(3 if rule == "ended" else 0):
        shop.erp.drop(f"c{number}")
    assert shop.sync()["waits"]["holds"] == 1
    path.decide("*" if rule == "ended" else "c", rule=None, approve=False, by="ada")
    if rule == "ended":
        shop.erp.put("c0", "a", "8")
    else:
        shop.erp.drop("c", "a")
    summary = shop.sync()
    assert (summary["waits"], len(shop.seen())) == (None, 4 if rule == "ended" else 0)
    assert shop.rows("SELECT state, rows FROM ledger.hold WHERE superseded_by IS NULL") == [
        ("declined", 2 if rule == "ended" else 3)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("approve", [True, False])
def test_what_is_decided_about_ends_stands_though_its_rows_are_lost(shop, approve):
    """An approval is recognised by its identity. One that is left of a declined hold would be too few for the guard: it is asked for."""
    for number, sku in enumerate("abcd"):
        shop.erp.put(f"c{number}", sku, "8")
    shop.sync()
    for number in range(3):
        shop.erp.drop(f"c{number}")
    assert shop.sync()["waits"]["holds"] == 1
    shop.world.app.promotions.decide("*", rule=None, approve=approve, by="ada")
    with shop.world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.hold SET rows_path = 'gone.parquet'"))
    for number, sku in enumerate("" if approve else "ab"):
        shop.erp.put(f"c{number}", sku, "8")
    summary = shop.sync()
    assert (len(shop.seen()), summary["state"]) == (1 if approve else 4, "succeeded")
    assert (summary["waits"] is None) == approve


@pytest.mark.slow
def test_a_campaign_whose_file_is_gone_from_the_lake_stays_and_the_others_follow_the_erp(shop):
    for campaign, sku in (("c1", "a"), ("c2", "b")):
        shop.erp.put(campaign, sku, "8")
    shop.sync()
    with shop.world.app.context.engine.begin() as connection:
        gone = "UPDATE ledger.promotion SET acknowledged_path = 'gone.parquet' WHERE campaign = 'c1'"
        connection.execute(sa.text(gone))
    for campaign, sku in (("c1", "a"), ("c2", "b")):
        shop.erp.put(campaign, sku, "7")
    summary = shop.sync()
    assert (summary["state"], shop.seen()) == ("partly_failed", {"a": 8.0, "b": 7.0})
    assert summary["error"].startswith("1 campaigns could not be planned (c1): c1: ")


@pytest.mark.slow
def test_a_campaign_whose_file_is_gone_stays_alone_though_the_extract_is_not_proven(make_shop, tmp_path):
    """Then what the platform has of each campaign is read, and a lost file of one kept all campaigns of its stores as they were."""
    file, control = tmp_path / "promotions.csv", tmp_path / "rows.txt"

    def write(price):
        window = "2020-01-01T00:00:00Z,2099-01-01T00:00:00Z"
        lines = [f"{campaign},store-001,{sku},{price},Offer {campaign},{window}\n" for campaign, sku in ("1a", "2b")]
        file.write_text(HEADER + "".join(lines), "utf-8")
        control.write_text(f"{len(lines)}\n", "utf-8")

    write("8")
    proven = make_shop(promotions={"sql": None, "files": str(file), "control_file": str(control)})
    assert proven.sync()["state"] == "succeeded"
    shop = make_shop(promotions={"sql": None, "files": str(file)})
    with shop.world.app.context.engine.begin() as connection:
        gone = "UPDATE ledger.promotion SET acknowledged_path = 'gone.parquet' WHERE campaign = '1'"
        connection.execute(sa.text(gone))
    write("7")
    summary = shop.sync()
    assert shop.seen() == {"a": 8.0, "b": 7.0}
    assert any(line.startswith("campaign 1: left alone: ") and "gone.parquet" in line for line in summary["lines"])


@pytest.mark.slow
def test_a_store_whose_export_is_gone_from_the_lake_keeps_its_promotions_and_the_others_follow_theirs(shop):
    """For example, the ledger was restored, and the lake is older."""
    for campaign, sku, vendor in (("c1", "a", "store-001"), ("c2", "b", "store-002"), ("c3", "c", "store-001")):
        shop.erp.put(campaign, sku, "8", vendor=vendor)
    assert shop.sync()["state"] == "succeeded"
    shop.erp.drop("c1")
    shop.sync()
    export(shop)
    with shop.world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.observation SET path = 'gone.parquet' WHERE vendor = 'store-001'"))
    shop.erp.put("c2", "b", "7", vendor="store-002")
    shop.erp.put("c3", "c", "1")
    summary = shop.sync()
    assert (summary["state"], "1 vendors could not be read (store-001)" in summary["error"]) == ("partly_failed", True)
    assert (shop.seen("store-002"), shop.seen()) == ({"b": 7.0}, {"c": 8.0})
    assert shop.rows(
        "SELECT state, finished_at IS NOT NULL FROM ledger.promotion_run ORDER BY run_id DESC LIMIT 1"
    ) == [("partly_failed", True)]
    export(shop)
    assert {state for (state,) in shop.rows("SELECT state FROM ledger.job WHERE kind = 'export'")} == {"acknowledged"}
    summary = shop.sync()
    assert (summary["state"], summary["waits"]["holds"]) == ("succeeded", 1)


def _forget(shop: Any, vendor: str) -> list[str]:
    context = shop.world.app.context
    lines: list[str] = forget(context, vendor, why="closed", who="ada")["lines"]
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("proof", ["", "not proven complete"])
def test_campaigns_of_a_forgotten_store_end_though_the_erp_still_names_it_and_other_stores_keep_theirs(
    make_shop, tmp_path, proof
):
    file, control = tmp_path / "promotions.csv", tmp_path / "rows.txt"
    stores = [("own", "store-002"), ("two", "store-001"), ("two", "store-002"), ("deep", "store-002")]
    window = "2020-01-01T00:00:00Z,2099-01-01T00:00:00Z"
    lines = [
        f"{campaign},{vendor},{sku},{1 if campaign == 'deep' else 8},Offer {campaign},{window}\n"
        for (campaign, vendor), sku in zip(stores, "abbc", strict=True)
    ]
    file.write_text(HEADER + "".join(lines), "utf-8")
    control.write_text(f"{len(lines)}\n", "utf-8")
    proven = {"sql": None, "files": str(file), "control_file": str(control)}
    shop = make_shop(promotions=proven | {"ended_share_max": 0.01})
    summary = shop.sync()
    assert (shop.seen("store-001"), shop.seen("store-002")) == ({"b": 8.0}, {"a": 8.0, "b": 8.0})
    assert summary["counts"]["held"] == 1, "the deep discount"

    if proof:
        shop = make_shop(promotions={"sql": None, "files": str(file)})
    _forget(shop, "store-002")
    summary = shop.sync()
    assert (shop.seen("store-001"), shop.seen("store-002")) == ({"b": 8.0}, {})
    assert (summary["state"], summary["counts"].get("held", 0), shop.world.app.holds.listed("open")) == (
        "succeeded",
        0,
        [],
    )
    assert "3 rows are of stores that are forgotten (store-002), so they are not offered" in "\n".join(summary["lines"])
    shop.world.sync()  # the ERP has rows of it: it comes back
    lines = shop.sync()["lines"]
    again = {"a": 8.0} if proof else {"a": 8.0, "b": 8.0}  # the shared one would end, to be made with both stores
    assert (shop.seen("store-001"), shop.seen("store-002")) == ({"b": 8.0}, again)
    assert bool(proof) == any("campaign two: passed over: " in line for line in lines)


@pytest.mark.slow
def test_a_campaign_shared_with_a_forgotten_store_outside_the_setting_goes_on(make_shop):
    shop = make_shop()
    shop.erp.put("all", "a", "8", vendor=None)
    shop.erp.put("one", "b", "8", vendor="store-003")
    shop.sync()
    _forget(shop, "store-003")
    rest = make_shop(sync={"vendors": ("store-001", "store-002"), "poll_first_s": 0.05, "poll_max_s": 0.2})
    rest.erp.put("all", "a", "7", vendor=None)
    summary = rest.sync()
    assert not any("left alone" in line for line in summary["lines"])
    assert (rest.seen("store-001"), rest.seen("store-003")) == ({"a": 7.0}, {})


@pytest.mark.slow
def test_a_store_loses_no_campaign_in_an_unproven_extract_because_another_that_shares_it_is_forgotten(
    make_shop, tmp_path
):
    file = tmp_path / "promotions.csv"
    window = "2020-01-01T00:00:00Z,2099-01-01T00:00:00Z"
    both = [f"two,{vendor},a,8,Offer two,{window}\n" for vendor in STORES[:2]]
    file.write_text(HEADER + "".join(both), "utf-8")
    shop = make_shop(promotions={"sql": None, "files": str(file)})
    shop.sync()
    _forget(shop, "store-002")
    file.write_text(HEADER + both[1], "utf-8")
    shop.sync()
    assert shop.seen("store-001") == {"a": 8.0}
