"""An export run against the live sandbox: its end is received or polled, and its file is read in every variant, loaded once, and stored."""

from __future__ import annotations

import itertools
from decimal import Decimal

import pytest

SKUS = ("a", "b", "c")
HISTORY = "SELECT sku, barcode, price, active, max_sales_quantity FROM warehouse.assortment_history WHERE valid_to IS NULL ORDER BY 1"
SHOWN = [(sku, "12345678905", Decimal("9.990"), True, None) for sku in SKUS]
_keys = itertools.count(1)


@pytest.fixture
def world(make_world):
    world = make_world(drift={"propagation_s": 0})
    _stock(world, "9.99")
    for sku in SKUS:
        world.erp.put("store-001", sku, "9.99")
    world.sync("full")
    return world


def _stock(world, price):
    row = {"barcodes": ["0012345678905"], "title": "A", "price": float(price), "active": True}
    world.platform.put_products("store-001", [{**row, "sku": sku} for sku in SKUS])


def _export(world, key=None, *vendors):
    return world.app.export(key or f"export/{next(_keys)}", vendors, progress=lambda *_: None)


def _asked(world):
    return [entry for entry in world.platform.journal()["entries"] if entry["operation"] == "export"]


@pytest.mark.slow
def test_what_is_shown_is_in_history_and_lake_with_its_barcodes_unpadded(world):
    summary = _export(world)
    assert (summary["state"], summary["drifts"]) == ("succeeded", 0)
    assert world.rows(HISTORY) == SHOWN
    seen = world.rows("SELECT path, raw_path, extra_path, rows FROM ledger.observation")[0]
    lake = world.app.context.lake
    assert (seen.extra_path, seen.rows, lake.read_table(seen.path).num_rows) == (None, 3, 3)
    with lake.open(seen.raw_path) as file:
        assert file.read().startswith(b'"sku","barcode","price","active","maximum_sales_quantity"')


@pytest.mark.slow
@pytest.mark.parametrize("fault", [{"kind": "gzip"}, {"kind": "byte_order_mark"}], ids=lambda rule: rule["kind"])
def test_a_file_is_read_in_every_shape(world, fault):
    world.platform.faults({"at": "log", **fault})
    assert _export(world)["state"] == "succeeded"
    assert world.rows(HISTORY) == SHOWN


@pytest.mark.slow
def test_a_lost_webhook_is_made_up_for_by_asking(world, receiver):
    world.platform.put_webhook(catalog_url=receiver.url, secret="canary-webhook-1")
    world.platform.faults({"at": "job_webhook", "kind": "lost"})
    assert _export(world)["state"] == "succeeded"
    assert world.rows("SELECT count(*) FROM inbox.event") == [(0,)]
    assert world.rows(HISTORY) == SHOWN


def test_a_webhook_ends_the_wait_without_a_question(make_world, receiver):
    never = {"poll_first_s": 3600, "poll_max_s": 3600}
    world = make_world(sync=never)
    world.platform.put_webhook(catalog_url=receiver.url, secret="canary-webhook-1")
    _stock(world, "9.99")
    assert _export(world, None, "store-001")["state"] == "succeeded"
    assert "job_status" not in {entry["operation"] for entry in world.platform.journal()["entries"]}
    assert world.rows(HISTORY) == SHOWN
    assert world.rows("SELECT count(*) FROM inbox.event WHERE processed_at IS NULL") == [(0,)]


@pytest.mark.slow
@pytest.mark.parametrize("again", ["export", "observe", "reconcile"])
def test_every_step_again_changes_nothing(world, again):
    assert _export(world, "once")["state"] == "succeeded"
    tables = (
        "warehouse.observation",
        "warehouse.assortment_history",
        "warehouse.product",
        "ledger.export",
        "ledger.baseline",
    )
    before = [world.rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in tables]
    asked = len(_asked(world))
    world.app.export_step(again, "once", ["store-001"])
    _export(world, "once")
    assert [world.rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in tables] == before
    assert len(_asked(world)) == asked


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["truncated", "html_page", "empty"])
def test_from_a_file_that_is_none_nothing_is_concluded_and_the_next_run_asks_anew(world, kind):
    assert _export(world)["state"] == "succeeded"
    baseline = world.rows("SELECT * FROM ledger.baseline ORDER BY 1, 2")
    world.platform.faults({"at": "log", "kind": kind})
    summary = _export(world)
    assert summary["state"] == "failed"
    assert "store-001" in summary["error"]
    assert world.rows("SELECT count(*) FROM warehouse.observation") == [(1,)]
    assert world.rows("SELECT * FROM ledger.baseline ORDER BY 1, 2") == baseline
    assert world.rows(HISTORY) == SHOWN
    world.platform.faults()
    _stock(world, "5.00")
    assert _export(world)["state"] == "succeeded"
    assert {row.price for row in world.rows(HISTORY)} == {Decimal("5.000")}


@pytest.mark.slow
def test_an_expired_link_is_reported_and_a_repeat_of_the_step_continues(world):
    world.platform.faults({"at": "log", "kind": "expired", "times": 1})
    summary = _export(world, "dead")
    assert summary["state"] == "failed"
    assert "no longer serves the file" in summary["error"]
    for step in ("observe", "reconcile"):
        world.app.export_step(step, "dead", ["store-001"])
    assert world.app.report_exports("dead")["state"] == "succeeded"
    assert len(_asked(world)) == 1
    assert world.rows(HISTORY) == SHOWN


@pytest.mark.slow
def test_an_empty_export_of_a_store_with_a_baseline_is_reported_and_ignored(world):
    _export(world)
    world.platform.put_products("store-001", [])
    summary = _export(world)
    assert summary["state"] == "failed"
    assert "shows no SKU" in summary["error"]
    assert world.rows(HISTORY) == SHOWN
    assert world.rows("SELECT count(*) FROM warehouse.product WHERE on_platform") == [(3,)]


def _take(world, key, steps):
    for step in steps:
        if step == "wait":
            world.app.wait_exports(key, ["store-001"])
        elif step == "event":
            _put_event(world)
        else:
            world.app.export_step(step, key, ["store-001"])


def _put_event(world):
    """The event of the export's end is in the inbox."""
    body = """'{"job_id": "' || platform_job_id || '", "job_status": "COMPLETED"}'"""
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO inbox.event (kind, identity, platform_job_id, body)"
            f" SELECT 'job', 'end', platform_job_id, convert_to({body}, 'UTF8') FROM ledger.job WHERE kind = 'export'"
        )


def _pass_time(world, length):
    with world.app.context.engine.begin() as connection:
        past = ", ".join(f"{name} = {name} - interval '{length}'" for name in ("created_at", "deadline_at"))
        connection.exec_driver_sql(f"UPDATE ledger.job SET {past} WHERE kind = 'export'")


_STATE = "SELECT state FROM ledger.job JOIN ledger.export USING (export_id) WHERE run_key = 'lost'"


@pytest.mark.slow
@pytest.mark.parametrize("steps", [(), ("export", "wait"), ("export", "event"), ("export", "wait", "observe")])
def test_an_export_that_waits_for_its_turn_is_not_lost_before_its_run_is_over(world, steps):
    """Before its request, and before its download, it may wait for the rate limit longer than the platform may work on it."""
    world.app.plan_exports("lost", ())
    _take(world, "lost", steps)
    _pass_time(world, "71 minutes")
    world.app.recover()
    _take(world, "lost", [step for step in ("export", "wait", "observe", "reconcile") if step not in steps])
    assert world.rows(_STATE) == [("acknowledged",)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "after"),
    [
        ((), "7 hours"),
        (("export",), "71 minutes"),
        (("export", "event"), "7 hours"),
        (("export", "wait", "observe"), "7 hours"),
    ],
)
def test_an_export_whose_process_has_died_is_ended_after_its_deadline_and_the_next_one_goes_on(world, steps, after):
    world.app.plan_exports("lost", ())
    _take(world, "lost", steps)
    world.app.recover()
    assert world.rows(_STATE) != [("failed",)]
    _pass_time(world, after)
    world.app.recover()
    assert world.rows(_STATE) == [("failed",)]
    assert "the next export requests it anew" in world.app.report_exports("lost")["error"]
    assert _export(world)["state"] == "succeeded"
