"""The lake has lost a file that the ledger names: one store's, the chain's, or half of one. No other store waits for it."""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path

import pytest

import sixty_products
from lake_files import lake_files
from shelfsync.catalog.warehouse import baseline_history
from shelfsync.check import lake_warnings
from shelfsync.schemas import BASELINE

FIRST, SECOND = "store-001", "store-002"
SKUS = ("gone", "left", "same", "sold")
BASELINES = (
    "SELECT b.vendor, b.path, b.known_path, b.rows FROM ledger.baseline AS b"
    " JOIN ledger.vendor AS v ON v.vendor = b.vendor AND v.baseline_version = b.version"
)


def leave(world, sku):
    world.erp.execute("DELETE FROM stock WHERE vendor = ? AND sku = ?", FIRST, sku)


def _shop(world):
    """Both stores are in step; of the first, `left` has left the ERP and `sold` is off sale by a value of the ERP."""
    for vendor in (FIRST, SECOND):
        world.platform.put_products(
            vendor, [{"sku": sku, "barcodes": [], "title": sku, "price": 9.99, "active": True} for sku in SKUS]
        )
        for sku in SKUS:
            world.erp.put(vendor, sku, "1.00")
    world.sync("full")
    leave(world, "left")
    world.erp.put(FIRST, "sold", "1.00", active=0)
    assert world.sync("delta")["state"] == "succeeded"


@pytest.fixture
def shop(world_after):
    return world_after(_shop)


def baseline_of(world, vendor=FIRST):
    [row] = [row for row in world.rows(BASELINES) if row.vendor == vendor]
    return row


def lose(world, path):
    Path(world.settings.lake, path).unlink()


def cut(world, path):
    """The half of it."""
    file = Path(world.settings.lake, path)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])


def damage(world, path):
    """As long as before, and zeros in the middle."""
    file = Path(world.settings.lake, path)
    whole = file.read_bytes()
    file.write_bytes(whole[:40] + bytes(len(whole) - 80) + whole[-40:])


def change_both(world):
    """Each value of the first store that a baseline must remember, and a price of the second."""
    world.erp.put(FIRST, "same", "2.00")
    world.erp.put(SECOND, "same", "2.00")
    leave(world, "gone")
    world.erp.put(FIRST, "left", "1.00", active=None)  # back, and the ERP says no more of it


def shown(world, vendor):
    return {sku: (Decimal(str(row["price"])), row["active"]) for sku, row in world.platform.products(vendor).items()}


def assert_in_step(world):
    one = Decimal(1)
    assert shown(world, FIRST) == {
        "gone": (one, False),
        "left": (one, True),
        "same": (Decimal(2), True),
        "sold": (one, False),
    }
    assert shown(world, SECOND)["same"] == (Decimal(2), True)


@pytest.mark.parametrize("harm", [lose, cut, damage])
def test_a_baseline_without_its_file_is_read_from_the_warehouse(shop, harm):
    lost = baseline_of(shop).path
    before = shop.app.context.lake.read_table(lost)
    harm(shop, lost)
    change_both(shop)
    report = shop.sync("delta")
    assert report["state"] == "succeeded", report["lines"]
    assert report["sent"] == 4, "nothing is sent that did not change"
    assert_in_step(shop)
    assert shop.app.context.lake.read_table(lost).equals(before)


def test_the_warehouse_knows_what_is_no_value(shop):
    """Barcode, sales buffer, and whether a product is off sale because it left the ERP: also where they move alone."""

    def agree():
        with shop.app.context.engine.connect() as connection:
            rows = baseline_history.in_force(connection, FIRST)
        assert rows.schema.equals(BASELINE)
        assert rows.equals(shop.app.context.lake.read_table(baseline_of(shop).path))
        return {row["sku"] for row in rows.to_pylist() if row["left"]}

    assert agree() == {"left"}
    shop.erp.put(FIRST, "left", "1.00", active=0)  # now the ERP itself says so
    shop.erp.execute("UPDATE stock SET barcode = '7290000000001' WHERE sku = 'same'")
    assert shop.sync("full")["state"] == "succeeded"
    assert agree() == set()


def test_a_store_whose_lost_baseline_cannot_be_known_fails_alone(shop):
    lose(shop, baseline_of(shop).path)
    change_both(shop)
    with shop.app.context.engine.begin() as connection:
        connection.exec_driver_sql(f"DELETE FROM warehouse.baseline WHERE vendor = '{FIRST}' AND sku = 'same'")
    report = shop.sync("delta")
    [failed] = [row for row in report["vendors"] if row["failed_step"]]
    assert (failed["vendor"], failed["failed_step"]) == (FIRST, "normalise")
    assert "docs/how-to/backup.md" in failed["error"]
    assert shown(shop, SECOND)["same"] == (Decimal(2), True)
    assert shown(shop, FIRST)["same"] == (Decimal(1), True)


def test_a_file_that_its_own_run_has_lost_fails_its_store_alone(shop):
    change_both(shop)
    run_id, vendors = shop.begin("delta", upto="normalise")
    [row] = shop.rows(f"SELECT snapshot_path FROM ledger.vendor_run WHERE run_id = {run_id} AND vendor = '{FIRST}'")
    lose(shop, row.snapshot_path)
    report = shop.app.step("diff", run_id, vendors)
    assert report["done"] == 1
    assert row.snapshot_path in report["failed"][FIRST]
    assert shop.sync("delta")["state"] == "succeeded"
    assert_in_step(shop)


def test_a_folder_of_one_store_that_nobody_can_write_to_fails_it_alone(shop):
    folder = Path(shop.settings.lake, "raw", FIRST)
    shutil.rmtree(folder)
    folder.write_text("a file in its place", "utf-8")
    change_both(shop)
    report = shop.sync("full")
    [failed] = [row for row in report["vendors"] if row["failed_step"]]
    assert failed["vendor"] == FIRST
    assert f"'raw/{FIRST}/" in failed["error"]
    assert shown(shop, SECOND)["same"] == (Decimal(2), True)


@pytest.mark.slow
def test_a_plan_names_a_store_whose_file_is_lost_and_plans_the_others(shop):
    change_both(shop)
    run_id = shop.app.open_run("delta", "plan", (), dry_run=True)
    shop.app.sync(run_id, dry_run=True, progress=lambda *_: None)
    for row in shop.rows(f"SELECT raw_path FROM ledger.vendor_run WHERE run_id = {run_id} AND vendor = '{FIRST}'"):
        cut(shop, row.raw_path)
    vendors = {one["vendor"]: one for one in shop.app.plan(run_id)["vendors"]}
    assert (vendors[FIRST]["state"], vendors[FIRST]["batches"]) == ("failed", [])
    assert len(vendors[SECOND]["batches"]) == 1


@pytest.mark.slow
def test_a_job_that_ends_after_the_loss_is_acknowledged(shop):
    change_both(shop)
    run_id, vendors = shop.begin("delta", upto="deliver")
    lose(shop, baseline_of(shop).path)
    shop.app.wait(run_id, vendors)
    for step in ("confirm", "acknowledge"):
        assert shop.app.step(step, run_id, vendors)["failed"] == {}
    assert_in_step(shop)
    assert shop.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_no_run_needs_what_the_lake_keeps_of_earlier_ones(shop):
    """A rule of the bucket removes whatever is old."""
    lost = lake_files(shop)
    assert baseline_of(shop).path in lost
    for path in lost:
        lose(shop, path)
    change_both(shop)
    assert shop.sync("delta")["state"] == "succeeded"
    assert_in_step(shop)
    assert shop.sync("full")["state"] == "succeeded"
    assert shop.sync("delta")["sent"] == 0


@pytest.mark.slow
def test_an_export_is_compared_with_the_last_one_although_its_file_is_lost(shop):
    def export(key):
        assert shop.app.export(key, (), progress=lambda *_: None)["state"] == "succeeded"

    export("first")
    for path in lake_files(shop):
        lose(shop, path)
    shop.erp.put(FIRST, "same", "3.00")
    shop.sync("full")
    export("second")
    history = shop.rows(
        f"SELECT sku, price FROM warehouse.assortment_history WHERE vendor = '{FIRST}' AND valid_to IS NULL ORDER BY sku"
    )
    one = Decimal(1)
    assert history == [("gone", one), ("left", one), ("same", Decimal(3)), ("sold", one)]


def _decided_and_lost(shop, *, approve):
    """Fourteen prices are held and decided; then the lake loses their rows."""
    for number, sku in enumerate(sixty_products.SKUS[:14]):
        shop.erp.put(FIRST, sku, f"{2 * (number + 1) + 1}.00", 10)
    shop.sync("delta")
    [hold] = sixty_products.waiting(shop)
    shop.app.holds.decide(hold["hold_id"], approve=approve, who="ada")
    [row] = shop.rows("SELECT rows_path FROM ledger.hold")
    lose(shop, row.rows_path)


@pytest.mark.slow
def test_an_approval_of_rows_that_are_lost_is_asked_for_again(world_after):
    shop = world_after(sixty_products.fill)
    _decided_and_lost(shop, approve=True)
    report = shop.sync("delta")
    assert (report["state"], report["sent"]) == ("succeeded", 0), report["lines"]
    [again] = sixty_products.waiting(shop)
    assert again["rows"] == 14
    shop.app.holds.decide(again["hold_id"], approve=True, who="ada")
    assert shop.sync("delta")["state"] == "succeeded"
    assert sixty_products.price(shop, sixty_products.SKUS[0]) == Decimal(3)


@pytest.mark.slow
def test_declined_rows_that_are_lost_stop_their_store_until_a_person_looks(world_after):
    """Else a part of what was declined would be below the threshold, and go on."""
    shop = world_after(sixty_products.fill)
    _decided_and_lost(shop, approve=False)
    [failed] = [row for row in shop.sync("delta")["vendors"] if row["failed_step"]]
    assert (failed["failed_step"], "`shelfsync holds reopen 1 " in failed["error"]) == ("guard", True)
    shop.app.holds.reopen(1, why="its rows are lost", who="ada")
    assert shop.sync("delta")["sent"] == 0
    [again] = sixty_products.waiting(shop)
    assert again["rows"] == 14


def test_check_names_the_stores_whose_files_are_lost(shop):
    assert lake_warnings(shop.app.context) == []
    lose(shop, baseline_of(shop, SECOND).path)
    [line] = lake_warnings(shop.app.context)
    assert f"for 1 of the 2 stores that were looked at: {SECOND}" in line
