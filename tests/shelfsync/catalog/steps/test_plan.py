"""A plan shows what would be sent and sends nothing. Applied, it sends exactly that or reports what has changed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from decimal import Decimal
from pathlib import Path

import pytest

from app_calls import open_calls
from partner_api import StreamedBody
from shelfsync.catalog.steps import plan as plans
from shelfsync.errors import ConfigurationError, DataError, PlanMovedError, ReadOnlyError
from shelfsync.settings.guard_thresholds import GuardSettings

V = "store-001"
SKUS = [f"s{number:02}" for number in range(12)]


def _shop(world):
    world.platform.put_products(
        V, [{"sku": sku, "barcodes": [], "title": sku, "price": 9.0, "active": True} for sku in SKUS]
    )
    for sku in SKUS:
        world.erp.put(V, sku, "2.00")
    world.sync("full")
    world.erp.put(V, "s01", "2.50")
    world.erp.put(V, "s02", "1.90", 4)
    world.erp.put(V, "s03", "20.00")
    world.erp.put(V, "s04", "1,99")


@pytest.fixture
def shop(world_after):
    """Twelve products that the platform has acknowledged, and four of them changed in the ERP."""
    return world_after(_shop)


def _plan(world, kind="delta"):
    return world.sync(kind, dry_run=True)


def _apply(world, plan, app=None):
    app = app or world.app
    names = tuple(vendor["vendor"] for vendor in plan["vendors"])
    world.asked.append(1)
    run_id = app.open_run(plan["kind"], f"apply/{len(world.asked)}", names)
    return app.apply(plan, run_id, lambda *_: None)


@pytest.mark.slow
def test_a_plan_shows_what_would_be_sent_held_and_quarantined_and_how_long_it_takes(shop):
    summary = _plan(shop)
    plan = summary["plan"]
    (vendor,) = plan["vendors"]
    assert (vendor["changes"]["changed"], vendor["changes"]["held"], len(vendor["batches"])) == (3, 1, 1)
    assert [held["rule"] for held in vendor["held"]] == ["shifted_decimal"]
    assert [(row["sku"], row["price"]) for row in vendor["top"]] == [("s01", "2.500"), ("s02", "1.900")]
    assert vendor["quarantined"] == {"price_decimal_comma": 1}
    assert plan["requests"] == 4
    assert plan["minutes"] >= 0
    report = "\n".join(summary["lines"])
    assert all(
        word in report
        for word in ("s01 price 2.00 -> 2.50 (+25 %)", "shifted_decimal", "price_decimal_comma", "min at")
    )


@pytest.mark.slow
def test_a_plan_leaves_ledger_and_platform_as_they_were(shop):
    before = len(shop.sent()), shop.rows("SELECT * FROM ledger.vendor"), shop.rows("SELECT * FROM ledger.baseline")
    _plan(shop)
    assert (
        len(shop.sent()),
        shop.rows("SELECT * FROM ledger.vendor"),
        shop.rows("SELECT * FROM ledger.baseline"),
    ) == before
    assert shop.rows("SELECT count(*) FROM ledger.hold") == [(0,)]


@pytest.mark.slow
def test_the_client_of_a_plan_cannot_put(shop):
    before = len(shop.sent())
    with open_calls(shop.settings, read_only=True) as app:
        client = app.context.open_platform()
        body = b'{"products":[{"sku":"s01","price":7}]}'
        with pytest.raises(ReadOnlyError, match="put_catalog"):
            client.update_catalog(V, StreamedBody([body], len(body)), priority="catalog")
        app.check((V,))
        run_id = app.open_run("delta", "test/readonly")
        names = [vendor for shard in app.extract(run_id) for vendor in shard["vendors"]]
        for word in ("normalise", "diff", "guard", "batch"):
            app.step(word, run_id, names)
        assert "put_catalog" in app.step("deliver", run_id, names)["failed"][V]
    assert len(shop.sent()) == before


@pytest.mark.slow
def test_an_applied_plan_sends_the_planned_bodies_byte_for_byte(shop):
    plan = _plan(shop)["plan"]
    before = len(shop.sent())
    summary = _apply(shop, plan)
    assert (summary["state"], summary["accepted"]) == ("succeeded", 2)
    entries = shop.sent()[before:]
    assert [entry["bytes_in"] for entry in entries] == [one["body_bytes"] for one in plan["vendors"][0]["batches"]]
    run = summary["run"]
    (path,) = shop.rows(f"SELECT items_path FROM ledger.batch WHERE run_id = {run}")
    from shelfsync.catalog.bodies import body

    sent = body(shop.app.context.lake.read_table(path[0]), key="sku", sales_limit_name="maximum_sales_quantity")
    assert hashlib.sha256(sent).hexdigest() == plan["vendors"][0]["batches"][0]["sha256"]
    assert Decimal(str(shop.shown()["s01"]["price"])) == Decimal("2.5")
    assert Decimal(str(shop.shown()["s03"]["price"])) == 2, "what the plan holds is held"


def _rejected(shop, plan, what, app=None):
    before = len(shop.sent())
    with pytest.raises(PlanMovedError, match=what):
        _apply(shop, plan, app)
    assert len(shop.sent()) == before
    assert shop.rows("SELECT count(*) FROM ledger.batch WHERE state = 'planned'") == [(0,)]


@pytest.mark.slow
def test_a_row_that_changed_in_the_erp_rejects_the_plan_and_is_named(shop):
    plan = _plan(shop)["plan"]
    shop.erp.put(V, "s07", "3.00")
    _rejected(shop, plan, r"snapshot: vendor store-001: 1 SKUs have changed in the ERP since \(s07\)")


@pytest.mark.slow
def test_a_moved_baseline_rejects_the_plan(shop):
    plan = _plan(shop)["plan"]
    shop.sync("delta")
    _rejected(shop, plan, "baseline: vendor store-001 has moved from version 1 to 2")


@pytest.mark.slow
def test_a_changed_setting_rejects_the_plan_and_its_section_is_named(shop):
    plan = _plan(shop)["plan"]
    guards = GuardSettings(shifted_decimal={"enabled": False})
    with open_calls(shop.settings.model_copy(update={"guards": guards})) as app:
        _rejected(shop, plan, "configuration: the section guards has changed", app)


@pytest.mark.slow
def test_an_approval_since_rejects_the_plan(shop):
    plan = _plan(shop)["plan"]
    shop.begin("delta", upto="guard")
    (hold,) = shop.app.holds.listed("open")
    shop.app.holds.decide(hold["hold_id"], approve=True, who="ada")
    _rejected(shop, plan, "guards: vendor store-001")


@pytest.mark.slow
def test_another_store_rejects_the_plan(shop):
    plan = _plan(shop)["plan"]
    shop.erp.execute("DELETE FROM stock")
    with contextlib.suppress(DataError):
        _rejected(shop, plan, "snapshot")


@pytest.mark.slow
def test_a_plan_is_read_back_unchanged_and_a_changed_one_is_rejected(shop, tmp_path):
    plan = _plan(shop, "full")["plan"]
    file = tmp_path / "plan.json"
    plans.write(plan, file)
    assert plans.read(file).model_dump() == _without_checksum(plan)
    file.write_text(file.read_text("utf-8").replace('"s03"', '"s05"').replace("2.500", "9.990"), "utf-8")
    with pytest.raises(DataError, match="was changed"):
        plans.read(file)
    with pytest.raises(DataError, match="no file"):
        plans.read(tmp_path / "none.json")


def _without_checksum(plan):
    return json.loads(json.dumps({name: value for name, value in plan.items() if name != "checksum"}, default=str))


def _forged(plan, tmp_path, change):
    """A plan that was changed by a person who can compute a checksum."""
    document = _without_checksum(plan)
    change(document, document["vendors"][0])
    file = tmp_path / "forged.json"
    document["checksum"] = plans._checksum(document)
    file.write_text(json.dumps(document), "utf-8")
    return file


FORGED = {
    "path": lambda plan, vendor: vendor.update(snapshot="../../etc/passwd"),
    "absolute": lambda plan, vendor: vendor["baseline"].update(path="/etc/passwd"),
    "dots": lambda plan, vendor: vendor.update(snapshot=f"raw/../{'0' * 64}.parquet/x"),
    "vendor": lambda plan, vendor: vendor.update(vendor="nul\0inside"),
    "no vendor": lambda plan, vendor: vendor.pop("vendor"),
    "twice": lambda plan, vendor: plan["vendors"].append(vendor),
    "kind": lambda plan, vendor: plan.update(kind="everything"),
    "list": lambda plan, vendor: plan.update(vendors={}),
    "version": lambda plan, vendor: vendor["baseline"].update(version="1; DROP"),
    "number": lambda plan, vendor: vendor["baseline"].update(version=10**30),
    "more": lambda plan, vendor: vendor.update(surprise=1),
    "batches": lambda plan, vendor: vendor.update(batches=[{"priority": 1}]),
    "configuration": lambda plan, vendor: plan.update(configuration=[]),
}


@pytest.mark.slow
def test_a_forged_plan_is_rejected_before_anything_in_it_is_used(shop, tmp_path, subtests):
    plan = _plan(shop)["plan"]
    for name, change in FORGED.items():
        with subtests.test(name):
            file = _forged(plan, tmp_path, change)
            with pytest.raises(DataError, match="no plan of this version") as caught:
                plans.read(file)
            assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["raw", "snapshot"])
def test_a_plan_that_names_another_file_of_the_lake_moves_nothing_and_opens_nothing(shop, tmp_path, kind):
    plan = _plan(shop)["plan"]
    (other,) = shop.rows("SELECT raw_path FROM ledger.vendor_run ORDER BY run_id LIMIT 1")[0]

    def change(_, vendor):
        vendor["snapshot"] = other if kind == "raw" else f"snapshot/..%2f/{'0' * 64}.parquet"
        vendor["baseline"]["path"] = other

    forged = plans.read(_forged(plan, tmp_path, change)).model_dump()
    _rejected(shop, forged, "has another file for version 1")
    forged["vendors"][0]["baseline"] = plan["vendors"][0]["baseline"]
    _rejected(shop, forged, "the ERP's rows have changed")


@pytest.mark.parametrize("content", [b"", b"[" * 100_000, b"\xff\xfe", b"null", b'{"checksum": 1}', b"9" * 10_000])
def test_a_damaged_plan_is_rejected_in_one_line(tmp_path, content):
    file = tmp_path / "plan.json"
    file.write_bytes(content)
    with pytest.raises(DataError, match="no plan of this version"):
        plans.read(file)
    with pytest.raises(DataError, match="no plan of this version"):
        plans.read(tmp_path)


@pytest.mark.parametrize("content", [b"sku,price\n1,2\n", b"{}", b"[1]", b"\xff", b"[" * 100_000])
def test_a_plan_replaces_an_older_plan_and_no_file_of_something_else(tmp_path, content):
    file = tmp_path / "plan.json"
    for _ in range(2):
        plans.write({"format": 0, "checksum": "of an older version"}, file)
    file.write_bytes(b"")
    plans.write({"format": 0, "checksum": "x"}, file)
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match="exists and cannot be read as a plan, so it is not replaced"):
        plans.write({}, file)
    assert file.read_bytes() == content
    with pytest.raises(ConfigurationError, match="is not replaced"):
        plans.write({}, Path(os.devnull))


@pytest.mark.slow
def test_no_secret_is_in_a_plan(shop):
    text = json.dumps(_plan(shop)["plan"], default=str)
    assert "demo-secret" not in text
    assert "postgresql" not in text


@pytest.mark.slow
def test_a_plan_names_each_value_that_is_sent_with_another_number(shop):
    shop.erp.put("store-001", "s03", "2.56999999999", quantity="-4")
    shop.erp.put("store-001", "s04", "2.00", quantity="3.9")
    summary = _plan(shop)
    (vendor,) = summary["plan"]["vendors"]
    assert vendor["adjusted"]["price_cut"] == {"rows": 1, "examples": ["s03: 2.56999999999 -> 2.569"]}
    assert vendor["adjusted"]["quantity_zeroed"]["examples"] == ["s03: -4 -> 0"]
    assert "1 quantities lose their fraction: s04: 3.9 -> 3" in "\n".join(summary["lines"])


def test_the_extract_of_a_dry_run_logs_what_was_understood_of_each_column(world, caplog):
    world.erp.put(V, "s01", "2.50")
    world.erp.put(V, "s02", "12.50", 4)
    for dry_run in (False, True):
        caplog.clear()
        world.app.extract(world.app.open_run("full", f"airflow/{dry_run}", (), dry_run=dry_run))
        [*lines] = [line for line in caplog.messages if "extract: column price" in line]
        assert len(lines) == dry_run
    assert "'12.50' reads as 12.5; 2.5 to 12.5; 2 rows, 0 empty, 0 not read" in lines[0]
