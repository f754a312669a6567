"""Counts of the ERP's rows after failures: each row is in one column, and every page and report has the same numbers (I1, I2)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from shelfsync import metrics
from shelfsync.terminal import status_tables

VENDOR = "store-001"
COLUMNS = (
    "acknowledged",
    "suppressed",
    "pending",
    "in_flight",
    "unconfirmed",
    "held",
    "rejected_for_good",
    "rejected_for_now",
    "absent",
    "quarantined",
)
FAILED = {"at": "job", "kind": "failed"}
VIEW = "SELECT erp_rows, not_in_erp, " + ", ".join(COLUMNS) + " FROM warehouse.vendor_count"


def product(sku, price=9.99):
    return {"sku": sku, "barcodes": [], "title": sku, "price": price, "active": True}


class Gauges(dict[str, float]):
    """A sink that keeps the last value of each gauge."""

    def count(self, name: str, by: int) -> None:
        """Not kept."""

    def timing(self, name: str, seconds: float) -> None:
        """Not kept."""

    def gauge(self, name: str, value: float) -> None:
        self[name] = value


@pytest.fixture
def gauges():
    sink = Gauges()
    metrics.use(sink)
    yield sink
    metrics.use(None)


@pytest.fixture
def shop(world):
    """Six products on the platform and in the ERP; nothing was sent yet."""
    skus = [f"s{number}" for number in range(6)]
    world.platform.put_products(VENDOR, [product(sku) for sku in skus])
    for sku in skus:
        world.erp.put(VENDOR, sku, "2.00")
    return world


def row(world):
    (found,) = world.app.status()["vendors"]
    return found


def counted(world):
    """The columns that are not empty, after a look at whether they add up."""
    found = row(world)
    assert sum(found[name] for name in COLUMNS) == found["erp_rows"] + found["not_in_erp"]
    return {name: found[name] for name in ("erp_rows", "not_in_erp", *COLUMNS) if found[name]}


def table(world):
    """The cells of the vendor's row in the table of `shelfsync status`."""
    (vendors, *_) = status_tables(world.app.status())
    return vendors.rows[0]


def equal_on_the_platform(world, price="2.00"):
    return sum(Decimal(str(shown["price"])) == Decimal(price) for shown in world.shown().values())


@pytest.mark.slow
def test_skus_of_a_job_that_failed_are_unconfirmed_and_none_is_acknowledged(shop):
    shop.platform.faults(FAILED)
    shop.sync("full")
    assert equal_on_the_platform(shop) == 0
    assert counted(shop) == {"erp_rows": 6, "unconfirmed": 6}
    assert row(shop)["acknowledged_at"] is None
    shop.platform.faults()
    shop.sync("delta")
    assert equal_on_the_platform(shop) == 6
    assert counted(shop) == {"erp_rows": 6, "acknowledged": 6}
    assert row(shop)["acknowledged_at"] is not None


@pytest.mark.slow
def test_a_change_whose_job_failed_leaves_the_acknowledged_skus_as_many_as_the_platform_equals(shop):
    shop.sync("full")
    shop.erp.put(VENDOR, "s0", "2.00", 0)
    shop.erp.put(VENDOR, "s1", "1.90")
    shop.platform.faults(FAILED)
    shop.sync("delta")
    assert counted(shop) == {"erp_rows": 6, "acknowledged": 4, "unconfirmed": 2}


@pytest.mark.slow
def test_status_table_view_report_and_gauges_show_the_same_numbers(shop, gauges):
    shop.erp.put(VENDOR, "unknown", "1.00")
    shop.sync("full")
    shop.erp.put(VENDOR, "s0", "1.90")
    shop.erp.put(VENDOR, "s1", "1,80")
    shop.erp.put(VENDOR, "s2", "1.70")
    shop.platform.faults({"at": "log", "kind": "missing_sku", "times": 1})
    summary = shop.sync("delta")
    expected = {
        "erp_rows": 7,
        "acknowledged": 4,
        "unconfirmed": 1,
        "rejected_for_good": 1,
        "quarantined": 1,
    }
    assert counted(shop) == expected
    assert [cell for cell in table(shop)[:-3] if cell != "0"] == [VENDOR, "7", "4", "1", "1", "1"]
    (view,) = shop.rows(VIEW)
    assert {name: value for name, value in view._mapping.items() if value} == expected
    assert {name: gauges[f"skus.{name}"] for name in expected} == expected
    assert {name: value for name, value in summary["counts"].items() if value} == expected
    assert any(
        "of the ERP's 7 rows 4 are acknowledged, 1 unconfirmed, 1 rejected, 1 quarantined" in line
        for line in summary["lines"]
    )


@pytest.mark.slow
def test_a_change_is_counted_in_one_column_at_each_step_of_its_way(shop):
    shop.sync("full")
    shop.erp.put(VENDOR, "s0", "1.90")
    run_id, vendors = shop.begin("delta", upto="normalise")
    assert counted(shop) == {"erp_rows": 6, "acknowledged": 5, "pending": 1}
    for word in ("diff", "guard", "batch"):
        shop.app.step(word, run_id, vendors)
        assert counted(shop) == {"erp_rows": 6, "acknowledged": 5, "pending": 1}
    shop.app.step("deliver", run_id, vendors)
    assert counted(shop) == {"erp_rows": 6, "acknowledged": 5, "in_flight": 1}
    shop.app.wait(run_id, vendors)
    shop.app.step("confirm", run_id, vendors)
    assert counted(shop) == {"erp_rows": 6, "acknowledged": 5, "in_flight": 1}
    shop.app.step("acknowledge", run_id, vendors)
    assert counted(shop) == {"erp_rows": 6, "acknowledged": 6}


@pytest.mark.slow
def test_what_a_guard_holds_is_held_until_a_person_approves_it(shop):
    shop.sync("full")
    shop.erp.put(VENDOR, "s0", "200.00")
    shop.sync("delta")
    assert counted(shop) == {"erp_rows": 6, "acknowledged": 5, "held": 1}
    shop.erp.put(VENDOR, "s1", "1.90")
    shop.platform.faults(FAILED)
    shop.sync("delta")
    assert counted(shop) == {"erp_rows": 6, "acknowledged": 4, "unconfirmed": 1, "held": 1}
    shop.platform.faults()
    (hold,) = shop.app.holds.listed()
    shop.app.holds.decide(hold["hold_id"], approve=True, who="ada", why="it is so")
    shop.sync("delta")
    assert counted(shop) == {"erp_rows": 6, "acknowledged": 6}


@pytest.mark.slow
def test_a_sku_that_left_the_erp_is_counted_beside_its_rows_until_it_is_off_sale(shop):
    shop.sync("full")
    shop.erp.execute("DELETE FROM stock WHERE sku = 's0'")
    shop.platform.faults(FAILED)
    shop.sync("delta")
    assert counted(shop) == {"erp_rows": 5, "not_in_erp": 1, "acknowledged": 5, "unconfirmed": 1}
    shop.platform.faults()
    shop.sync("delta")
    assert counted(shop) == {"erp_rows": 5, "acknowledged": 5}
    assert shop.shown()["s0"]["active"] is False


@pytest.mark.slow
def test_a_sku_that_is_rejected_after_a_failed_job_is_rejected_and_no_longer_unconfirmed(shop):
    shop.erp.put(VENDOR, "unknown-sku", "1.00")
    shop.platform.faults({**FAILED, "times": 1})
    shop.sync("full")
    assert counted(shop) == {"erp_rows": 7, "unconfirmed": 7}
    shop.sync("delta")
    assert counted(shop) == {"erp_rows": 7, "acknowledged": 6, "rejected_for_good": 1}


@pytest.mark.slow
def test_a_vendor_of_which_every_row_is_quarantined_has_all_of_them_there(shop):
    shop.sync("full")
    for number in range(6):
        shop.erp.put(VENDOR, f"s{number}", "1,00")
    shop.sync("delta")
    assert counted(shop) == {"erp_rows": 6, "quarantined": 6}


def test_counts_whose_files_cannot_be_read_are_unknown_and_the_status_still_works(shop, tmp_path):
    shop.sync("full")
    for file in (tmp_path / "lake" / "snapshot").rglob("*.parquet"):
        file.unlink()
    with shop.app.context.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM ledger.vendor_count")
    found = row(shop)
    assert [found[name] for name in ("erp_rows", *COLUMNS)] == [None] * (len(COLUMNS) + 1)
    assert found["last_state"] == "acknowledged"


@pytest.mark.slow
def test_stop_sells_of_a_failed_job_do_not_count_as_acknowledged(shop):
    shop.sync("full")
    before = shop.app.status()["freshness"]
    for number in range(3):
        shop.erp.put(VENDOR, f"s{number}", "2.00", 0)
    shop.platform.faults(FAILED)
    summary = shop.sync("delta")
    assert summary["freshness"] == []
    assert not any("acknowledged" in line and "stop-sells" in line for line in summary["lines"])
    assert shop.app.status()["freshness"] == before


@pytest.mark.slow
def test_only_the_accepted_stop_sells_of_a_job_count_as_acknowledged(shop):
    shop.sync("full")
    for number in range(3):
        shop.erp.put(VENDOR, f"s{number}", "2.00", 0)
    shop.erp.put(VENDOR, "s4", "2.10")
    shop.platform.faults({"at": "log", "kind": "missing_sku", "times": 1})
    (priority,) = shop.sync("delta")["freshness"]
    accepted = "SELECT sku FROM warehouse.sku_outcome WHERE job_id = 2 AND state = 'accepted' AND sku <> 's4'"
    assert (priority["priority"], priority["skus"], priority["jobs"]) == ("stop_sell", len(shop.rows(accepted)), 1)


def test_a_job_that_failed_is_reported_as_failed_and_not_as_silent(shop):
    shop.platform.faults(FAILED)
    summary = shop.sync("full")
    (vendor,) = summary["vendors"]
    assert (
        "job 1: the platform reported the job as FAILED and left no log: none of its 6 SKUs is confirmed"
        in vendor["error"]
    )
    assert "log has no line" not in vendor["error"]
    assert shop.rows("SELECT state, error FROM warehouse.catalog_job") == [
        ("unconfirmed", "the platform reported the job as FAILED and left no log")
    ]
    assert set(shop.rows("SELECT reason FROM warehouse.sku_outcome")) == {
        ("the platform reported the job as FAILED and left no log",)
    }
