"""Each drift is found, gets the right cause, and is sent again or reported: one test for each cause, against the live sandbox."""

from __future__ import annotations

import itertools
from decimal import Decimal

import duckdb
import pytest

A = {"barcodes": ["0012345678905"], "title": "A", "price": 9.99, "active": True}
SKUS = ("a", "b", "c")
AT_ONCE = {"propagation_s": 0}
_keys = itertools.count(1)


def export(world, *vendors):
    """A whole export run; its summary."""
    return world.app.export(f"test/export/{next(_keys)}", vendors, progress=lambda *_: None)


def price(world, sku="a"):
    return Decimal(str(world.shown()[sku]["price"]))


def drift(world):
    """(sku, field, cause, action) of the newest observation."""
    return world.rows(
        "SELECT sku, field, cause, action FROM warehouse.drift"
        " WHERE observation_id = (SELECT max(observation_id) FROM warehouse.observation) ORDER BY 1, 2"
    )


def _shelf(world):
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in SKUS])
    for sku in SKUS:
        world.erp.put("store-001", sku, "1.00")
    assert world.sync("full")["accepted"] == 3
    summary = export(world)
    assert (summary["state"], summary["drifts"]) == ("succeeded", 0)


@pytest.fixture
def make_shelf(world_after):
    """Three products with the same values on the platform and in the ERP, and an observation of them."""

    def make(**sections):
        return world_after(_shelf, **sections | {"drift": AT_ONCE | sections.get("drift", {})})

    return make


@pytest.fixture
def shelf(make_shelf):
    return make_shelf()


@pytest.mark.slow
def test_an_accepted_value_that_was_not_applied_is_named_and_sent_again_by_the_next_delta(shelf):
    shelf.platform.faults({"at": "job", "kind": "not_applied"})
    shelf.erp.put("store-001", "a", "2.00")
    assert shelf.sync("delta")["accepted"] == 1
    shelf.platform.faults()
    assert shelf.sync("delta")["sent"] == 0  # the baseline equals the ERP, so no delta would find it
    assert export(shelf)["resent"] == 1
    assert drift(shelf) == [("a", "price", "acknowledged_not_applied", "resend")]
    assert shelf.sync("delta")["sent"] == 1
    assert price(shelf) == 2
    assert export(shelf)["drifts"] == 0


@pytest.mark.slow
def test_a_stop_sell_that_was_accepted_and_not_applied_is_sent_again(shelf):
    shelf.platform.faults({"at": "job", "kind": "not_applied"})
    shelf.erp.put("store-001", "a", "1.00", quantity=0)
    assert shelf.sync("delta")["accepted"] == 1
    shelf.platform.faults()
    assert shelf.shown()["a"]["active"], "customers can order what is sold out"
    assert shelf.sync("delta")["sent"] == 0
    export(shelf)
    assert drift(shelf) == [("a", "active", "acknowledged_not_applied", "resend")]
    assert shelf.sync("delta")["sent"] == 1
    assert not shelf.shown()["a"]["active"]
    assert export(shelf)["drifts"] == 0


@pytest.mark.slow
def test_a_removal_that_was_accepted_and_not_applied_is_repeated_by_the_next_full_sync(shelf):
    shelf.erp.execute("DELETE FROM stock WHERE sku = 'a'")
    shelf.platform.faults({"at": "job", "kind": "not_applied"})
    assert shelf.sync("delta")["accepted"] == 1
    shelf.platform.faults()
    assert shelf.shown()["a"]["active"], "customers can order what the ERP no longer has"
    assert shelf.sync("delta")["sent"] == 0
    summary = shelf.sync("full")
    assert (summary["state"], summary["accepted"]) == ("succeeded", 3)
    assert not shelf.shown()["a"]["active"]


@pytest.mark.slow
def test_what_neither_the_erp_nor_the_platform_has_is_forgotten_and_rejected_once(shelf, tmp_path):
    shelf.erp.execute("DELETE FROM stock WHERE sku = 'a'")
    assert shelf.sync("delta")["accepted"] == 1
    shelf.platform.put_products("store-001", [row for sku, row in shelf.shown().items() if sku != "a"])
    assert shelf.sync("full")["rejected"] == 1, "the platform reports that it does not know it"
    assert shelf.rows("SELECT * FROM ledger.rejection") == []
    assert shelf.rows("SELECT * FROM warehouse.baseline WHERE sku = 'a'") == [], "the warehouse forgets it too"
    history = "SELECT price, quantity, active FROM warehouse.baseline_history WHERE sku = 'a' ORDER BY version"
    assert shelf.rows(history)[-1] == (None, None, False)
    shelf.app.write_duckdb(tmp_path / "today.duckdb")
    with duckdb.connect(tmp_path / "today.duckdb") as file:
        assert file.execute("SELECT * FROM warehouse.baseline WHERE sku = 'a'").fetchall() == []
        assert file.execute(history).fetchall()[-1] == (None, None, False)
    assert shelf.sync("full")["rejected"] == 0
    shelf.erp.put("store-001", "a", "1.00")
    assert shelf.sync("delta")["rejected"] == 1, "if it comes back, it is sent as a new one"
    assert len(shelf.rows("SELECT * FROM ledger.rejection")) == 1


@pytest.mark.slow
def test_a_product_without_stock_stays_on_sale_if_its_known_buffer_is_zero(make_shelf):
    world = make_shelf(suppression={"sales_buffer": 0})
    world.platform.put_products("store-001", [{**A, "sku": sku, "sales_buffer": 0} for sku in SKUS])
    world.erp.put("store-001", "a", "1.00", quantity=0)
    world.sync("full")
    assert world.shown()["a"]["active"]
    assert export(world)["drifts"] == 0


@pytest.mark.slow
def test_a_price_edited_in_the_portal_is_named_and_sent_again_by_the_next_delta(shelf):
    shelf.platform.faults({"at": "job", "kind": "portal_edit", "price": 7.77})
    shelf.erp.put("store-001", "a", "2.00")
    shelf.sync("delta")
    shelf.platform.faults()
    assert price(shelf) == Decimal("7.77")
    export(shelf)
    assert drift(shelf) == [("a", "price", "changed_on_platform", "resend")]
    shelf.sync("delta")
    assert price(shelf) == 2


@pytest.mark.slow
def test_a_product_switched_off_in_the_portal_is_named_though_a_quantity_decides_it(shelf):
    shown = [{name: value for name, value in row.items() if name != "app"} for row in shelf.shown().values()]
    shelf.platform.put_products("store-001", [{**row, "active": row["sku"] != "b"} for row in shown])
    export(shelf)
    assert drift(shelf) == [("b", "active", "changed_on_platform", "resend")]
    shelf.sync("delta")
    assert shelf.shown()["b"]["active"] is True
    assert export(shelf)["drifts"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("stated", [1, None], ids=["the ERP states active", "the ERP states quantities alone"])
def test_five_edits_in_the_portal_are_found_by_the_next_export_if_the_buffer_is_known(make_world, stated):
    """Without an export before them, and with a full sync that repeated every quantity just before."""
    stock = {"price": 20, "off in the ERP": 20, "sold out": 0, "55 pieces": 55, "below": 3, "as it was": 20}
    world = make_world(drift=AT_ONCE, suppression={"sales_buffer": 5})
    world.platform.put_products("store-001", [{**A, "sku": sku, "sales_buffer": 5} for sku in stock])
    for sku, quantity in stock.items():
        world.erp.put("store-001", sku, "1.00", quantity, 0 if sku == "off in the ERP" else stated)
    world.sync("full")
    assert export(world)["drifts"] == 0
    world.sync("full")
    edits = {"price": {"price": 7.77}, "off in the ERP": {"active": True}, "sold out": {"active": True}}
    edits |= {"55 pieces": {"active": False}, "below": {"active": True}}
    shown = [{name: value for name, value in row.items() if name != "app"} for row in world.shown().values()]
    world.platform.put_products("store-001", [row | edits.get(row["sku"], {}) for row in shown])
    export(world)
    assert {(sku, name) for sku, name, _, _ in drift(world)} == {
        (sku, "price" if sku == "price" else "active") for sku in edits
    }
    world.sync("delta")
    on_sale = {sku for sku, row in world.shown().items() if row["active"]}
    assert on_sale == {"price", "55 pieces", "as it was"}
    assert price(world, "price") == 1
    assert export(world)["drifts"] == 0


@pytest.mark.slow
def test_a_quantity_below_the_buffer_that_switches_a_product_off_is_no_drift(shelf):
    shelf.erp.put("store-001", "b", "1.00", quantity=0)
    shelf.sync("delta")
    assert shelf.shown()["b"]["active"] is False
    assert export(shelf)["drifts"] == 0


@pytest.mark.slow
def test_an_export_confirms_a_job_whose_webhook_and_status_were_lost(make_world):
    """The job had no confirmation. The export shows the values, which confirms them, and nothing is sent again."""
    silent = {"poll_first_s": 0.05, "poll_max_s": 0.1, "job_deadline_s": 1.5, "readback_requests_max": 0}
    world = make_world(sync=silent, drift=AT_ONCE)
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in SKUS])
    for sku in SKUS:
        world.erp.put("store-001", sku, "1.00", quantity=None)
    world.sync("full")
    world.platform.faults(
        {"at": "job_webhook", "kind": "lost"},
        {"at": "job_status", "kind": "status_404"},
        {"at": "log", "kind": "expired"},
    )
    world.erp.put("store-001", "a", "2.00", quantity=None)
    world.sync("delta")
    assert world.rows("SELECT state FROM ledger.job WHERE kind = 'catalog' ORDER BY job_id DESC LIMIT 1") == [
        ("unconfirmed",)
    ]
    assert world.rows("SELECT price FROM warehouse.baseline WHERE sku = 'a'") == [(None,)]
    world.platform.faults()
    summary = export(world)
    assert (summary["confirmed"], summary["drifts"]) == (1, 0)
    assert world.rows("SELECT price FROM warehouse.baseline WHERE sku = 'a'") == [(Decimal("2.000"),)]
    assert world.rows(
        "SELECT price, job_id, observation_id IS NOT NULL FROM warehouse.baseline_history WHERE sku = 'a' ORDER BY version DESC LIMIT 1"
    ) == [(Decimal("2.000"), None, True)]
    assert world.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_a_sku_that_the_log_omits_and_the_platform_did_not_apply_is_found_and_sent_again(shelf):
    shelf.platform.faults({"at": "log", "kind": "missing_sku"}, {"at": "job", "kind": "not_applied"})
    for sku in SKUS:
        shelf.erp.put("store-001", sku, "2.00")
    assert shelf.sync("delta")["unaccounted"] == 1
    shelf.platform.faults()
    export(shelf)
    causes = {sku: cause for sku, _, cause, _ in drift(shelf)}
    assert sorted(causes.values()) == ["acknowledged_not_applied", "acknowledged_not_applied", "unknown"]
    shelf.sync("delta")
    assert {price(shelf, sku) for sku in SKUS} == {2}
    assert export(shelf)["drifts"] == 0


@pytest.mark.slow
def test_a_sku_that_the_log_omits_and_the_export_shows_is_confirmed(shelf):
    shelf.platform.faults({"at": "log", "kind": "missing_sku"})
    for sku in SKUS:
        shelf.erp.put("store-001", sku, "2.00")
    assert shelf.sync("delta")["unaccounted"] == 1
    shelf.platform.faults()
    summary = export(shelf)
    assert (summary["confirmed"], summary["drifts"]) == (1, 0)
    assert shelf.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_a_sku_that_the_platform_does_not_have_is_drift_with_the_cause_rejected(shelf):
    shelf.erp.put("store-001", "new", "5.00")
    assert shelf.sync("delta")["rejected"] == 1
    assert export(shelf)["drifts"] == 1
    assert drift(shelf) == [("new", "sku", "rejected", "report")]
    assert "not found" in shelf.rows("SELECT message FROM warehouse.drift")[0].message


@pytest.mark.slow
def test_a_change_that_was_planned_and_not_sent_is_never_sent(shelf):
    shelf.erp.put("store-001", "new", "5.00")
    shelf.begin("delta", upto="batch")
    export(shelf)
    assert drift(shelf) == [("new", "sku", "never_sent", "report")]


@pytest.mark.slow
def test_removals_that_a_guard_holds_are_held(make_world):
    world = make_world(drift=AT_ONCE, guards={"mass_removal": {"max_share": 0.1}})
    skus = [f"s{number:02}" for number in range(12)]
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in skus])
    for sku in skus:
        world.erp.put("store-001", sku, "1.00")
    world.sync("full")
    world.erp.execute("DELETE FROM stock WHERE sku >= 's04'")
    world.sync("delta")
    export(world)
    assert {row[1:] for row in drift(world)} == {("active", "held", "report")}
    assert len(drift(world)) == 8


@pytest.mark.slow
def test_what_is_held_is_held_though_the_newest_run_has_not_come_to_the_guard(make_world):
    world = make_world(drift=AT_ONCE, guards={"mass_removal": {"max_share": 0.1}})
    skus = [f"s{number:02}" for number in range(12)]
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in skus])
    for sku in skus:
        world.erp.put("store-001", sku, "1.00")
    world.sync("full")
    world.erp.execute("DELETE FROM stock WHERE sku >= 's04'")
    world.sync("delta")
    world.begin("delta", upto="diff")
    export(world)
    assert {row[1:] for row in drift(world)} == {("active", "held", "report")}
    assert len(drift(world)) == 8


@pytest.mark.slow
def test_a_change_younger_than_the_propagation_time_is_not_judged(make_shelf):
    shelf = make_shelf(drift={"propagation_s": 1800})
    shelf.platform.faults({"at": "job", "kind": "not_applied"})
    shelf.erp.put("store-001", "a", "2.00")
    shelf.sync("delta")
    shelf.platform.faults()
    report = export(shelf)
    assert report["resent"] == 0
    assert report["lines"][1].startswith("1 values were acknowledged too shortly before for an export to show them")
    assert drift(shelf) == [("a", "price", "export_older_than_change", "ignore")]
    assert shelf.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_what_was_too_young_is_judged_by_the_next_export(make_shelf):
    """ "Too young" is no cause that the next observation of the same value may take over."""
    shelf = make_shelf(drift={"propagation_s": 1800})
    shelf.platform.faults({"at": "job", "kind": "not_applied"})
    shelf.erp.put("store-001", "a", "2.00")
    shelf.sync("delta")
    shelf.platform.faults()
    export(shelf)
    assert drift(shelf) == [("a", "price", "export_older_than_change", "ignore")]
    an_hour_passes(shelf)
    export(shelf)
    assert drift(shelf) == [("a", "price", "acknowledged_not_applied", "resend")]
    assert shelf.sync("delta")["sent"] == 1
    assert price(shelf) == 2


def an_hour_passes(world):
    with world.app.context.engine.begin() as connection:
        for table, instant in (("ledger.job", "ended_at"), ("ledger.observation", "observed_at")):
            connection.exec_driver_sql(f"UPDATE {table} SET {instant} = {instant} - INTERVAL '1 hour'")


@pytest.mark.slow
def test_a_drift_without_an_earlier_export_has_an_unknown_cause(make_world):
    """Without an earlier export the cause is unknown: not applied, or changed later. The value is sent again anyway."""
    world = make_world(drift=AT_ONCE)
    world.platform.put_products("store-001", [{**A, "sku": "a"}])
    world.erp.put("store-001", "a", "1.00")
    world.platform.faults({"at": "job", "kind": "not_applied"})
    world.sync("full")
    world.platform.faults()
    export(world)
    assert drift(world) == [("a", "price", "unknown", "resend")]
    world.sync("delta")
    assert price(world) == 1


@pytest.mark.slow
@pytest.mark.parametrize("action", ["report", "ignore"])
def test_a_cause_without_resend_is_recorded_and_nothing_is_sent(make_shelf, action):
    shelf = make_shelf(drift={"changed_on_platform": action})
    shelf.platform.faults({"at": "job", "kind": "portal_edit", "price": 7.77})
    shelf.erp.put("store-001", "a", "2.00")
    shelf.sync("delta")
    shelf.platform.faults()
    for _ in range(2):
        summary = export(shelf)
        assert drift(shelf) == [("a", "price", "changed_on_platform", action)]
        assert shelf.sync("delta")["sent"] == 0
        assert any("changed on platform" in line for line in summary["lines"]) == (action == "report")
    assert price(shelf) == Decimal("7.77")


@pytest.mark.slow
def test_drift_that_returns_after_three_resends_becomes_a_rejection(shelf):
    """A user of the platform changes the price back each time."""
    shelf.platform.faults({"at": "job", "kind": "portal_edit", "price": 7.77})
    shelf.erp.put("store-001", "a", "2.00")
    for _ in range(4):
        assert shelf.sync("delta")["sent"] == 1
        export(shelf)
    assert drift(shelf) == [("a", "price", "changed_on_platform", "reject")]
    assert shelf.sync("delta")["sent"] == 0
    reason = shelf.rows("SELECT reason FROM ledger.rejection WHERE sku = 'a'")[0].reason
    assert reason == "drift returned after 3 resends: price (changed on platform)", (
        "no value: it would be a group of its own"
    )
    rejections = shelf.rows("SELECT duration, kind, next_try_at FROM warehouse.rejection WHERE sku = 'a'")
    assert rejections == [("permanent", "drifted", None)]  # no wait after which it is sent again
    export(shelf)
    assert drift(shelf) == [("a", "price", "changed_on_platform", "reject")]
    assert shelf.sync("delta")["sent"] == 0
    assert shelf.app.status()["vendors"][0]["rejected_for_good"] == 1
    shelf.platform.faults()
    shelf.erp.put("store-001", "a", "3.00")
    assert shelf.sync("delta")["sent"] == 1  # the ERP wants something else: that is worth another try
    assert price(shelf) == 3


@pytest.mark.slow
def test_without_resends_the_first_drift_is_a_rejection(make_shelf):
    shelf = make_shelf(drift={"resends_max": 0})
    shelf.platform.faults({"at": "job", "kind": "portal_edit", "price": 7.77})
    shelf.erp.put("store-001", "a", "2.00")
    shelf.sync("delta")
    assert export(shelf)["state"] == "succeeded"
    assert drift(shelf) == [("a", "price", "changed_on_platform", "reject")]
    reason = shelf.rows("SELECT reason FROM ledger.rejection WHERE sku = 'a'")[0].reason
    assert reason == "drift is not sent again: price (changed on platform)"
    assert shelf.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_a_resend_sends_the_newest_value_of_the_erp_never_the_older_one(shelf):
    shelf.platform.faults({"at": "job", "kind": "not_applied"})
    shelf.erp.put("store-001", "a", "2.00")
    shelf.sync("delta")
    shelf.platform.faults()
    export(shelf)
    shelf.erp.put("store-001", "a", "4.00")
    shelf.sync("delta")
    assert price(shelf) == 4


@pytest.mark.slow
def test_a_job_that_is_open_when_the_export_is_requested_is_not_compared(shelf):
    shelf.platform.faults({"at": "job", "kind": "stuck"})
    shelf.erp.put("store-001", "a", "2.00")
    shelf.begin("delta", upto="deliver")
    shelf.platform.faults()
    export(shelf)
    assert drift(shelf) == [("a", "price", "export_older_than_change", "ignore")]


GAPS = "SELECT sku, gap FROM warehouse.assortment_gap ORDER BY 1"


@pytest.mark.slow
def test_a_sku_in_quarantine_is_in_the_erp(shelf):
    shelf.erp.put("store-001", "b", "3,49")
    shelf.erp.execute("DELETE FROM stock WHERE sku = 'c'")
    shelf.sync("delta")
    assert shelf.rows("SELECT sku FROM warehouse.quarantine") == [("b",)]
    export(shelf)
    assert shelf.rows(GAPS) == [("c", "not_in_erp")]


@pytest.mark.slow
def test_absence_from_an_unproven_extract_is_no_drift(make_world, tmp_path):
    _shelf(make_world(drift=AT_ONCE))
    file = tmp_path / "stock.csv"
    file.write_text("vendor,sku,price,quantity,active\nstore-001,a,1.00,10,1\nstore-001,b,1.00,10,1\n")
    shelf = make_world(erp={"url": None, "sql": None, "files": str(file)}, drift=AT_ONCE)
    shelf.sync("delta")
    assert shelf.rows("SELECT complete FROM ledger.extract ORDER BY extract_id DESC LIMIT 1") == [(False,)]
    export(shelf)
    assert shelf.rows(GAPS) == []
    assert shelf.rows("SELECT in_erp FROM warehouse.product WHERE sku = 'c'") == [(None,)]


def test_before_the_erp_was_ever_read_nothing_is_missing_there(world):
    world.platform.put_products("store-001", [{**A, "sku": sku} for sku in SKUS])
    export(world, "store-001")
    assert world.rows("SELECT sku, in_erp, on_platform FROM warehouse.product ORDER BY 1") == [
        (sku, None, True) for sku in SKUS
    ]
    assert world.rows(GAPS) == []


@pytest.mark.slow
def test_a_run_whose_baseline_an_export_moves_meanwhile_is_no_plain_success_and_the_next_one_sends(shelf):
    """What it compared with is no longer what was acknowledged: it sends nothing, and its changes wait (I15)."""
    shelf.erp.put("store-001", "a", "3.00")
    run_id, vendors = shelf.begin("delta", upto="guard")
    shown = [{name: value for name, value in row.items() if name != "app"} for row in shelf.shown().values()]
    shelf.platform.put_products("store-001", [{**row, "active": row["sku"] != "b"} for row in shown])
    export(shelf)
    assert "the baseline moved" in shelf.app.step("batch", run_id, vendors)["skipped"]["store-001"]
    summary = shelf.app.report(run_id)
    assert (summary["sent"], summary["state"]) == (0, "partly")
    assert summary["error"].startswith("1 of 1 vendors were passed over: store-001: the baseline moved")
    assert shelf.sync("delta")["sent"] == 2
    assert price(shelf) == 3
