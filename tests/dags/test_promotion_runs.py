"""The whole life of promotions by `dag.test()`: the ERP's table, the live platform, the warehouse."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

from airflow_world import states, written
from promotion_erp import SQL, PromotionErp

if TYPE_CHECKING:
    from airflow_world import World

pytestmark = pytest.mark.slow

LATER = """
DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET shelfsync.instant = %L', current_database(), clock_timestamp() + interval '3 days');
END $$
"""
"""From the next connection on, the database's time is three days later."""
PATH = (
    "check", "extract", "plan", "deliver", "wait", "confirm", "deliver_ends", "wait_ends", "confirm_ends", "report",
)  # fmt: skip


@pytest.fixture
def erp(world: World, monkeypatch: pytest.MonkeyPatch) -> PromotionErp:
    """Catalogs in sync, and a table of promotions."""
    for name, value in {"SQL": SQL, "POLL_FIRST_S": "0.05", "POLL_MAX_S": "0.2"}.items():
        monkeypatch.setenv(f"SHELFSYNC_PROMOTIONS__{name}", value)
    world.platform.control("PUT", "settings", {"promotion_propagation_s": 0.0})
    for vendor in ("store-001", "store-002", "store-003"):
        for sku in "abc":
            world.erp.put(vendor, sku, "10", 10)
    assert world.synced("full")["state"] == "succeeded"
    return PromotionErp(world.erp, dt.datetime.now(dt.UTC))


def seen(world: World, vendor: str = "store-001") -> dict[str, float]:
    shown = world.platform.products(vendor)
    return {sku: row["app"]["promotion"]["price"] for sku, row in shown.items() if row["app"]["promotion"]}


def portal(world: World) -> list[tuple[str, str]]:
    result = world.platform.control("GET", "chains/demo-chain/promotions")["promotions"]
    return sorted((row["name"], row["state"]) for row in result)


def outcomes(world: World) -> list[tuple[Any, ...]]:
    return world.rows(
        "SELECT p.campaign, j.action, j.platform_status, j.sent, j.accepted, j.rejected FROM warehouse.promotion_job AS j"
        " JOIN warehouse.promotion AS p USING (promotion_id) ORDER BY j.job_id"
    )


def test_the_whole_life_of_a_promotion_from_the_dag_to_the_warehouse(world: World, erp: PromotionErp) -> None:
    # upcoming and running
    erp.put("soon", "c", "9", start=1, end=48)
    erp.put("life", "a", "8")
    erp.put("life", "b", "8")
    run = world.run("promotions_sync")
    assert states(run) == {word: {"success"} for word in PATH}
    assert seen(world) == {"a": 8.0, "b": 8.0}
    assert portal(world) == [("Offer life", "Running"), ("Offer soon", "Upcoming")]
    # changed, and one SKU out
    erp.put("life", "a", "7")
    erp.drop("life", "b")
    assert world.run("promotions_sync").state == "success"
    assert seen(world) == {"a": 7.0}
    # another name: the old one ends within the run, after the platform has made the new one
    erp.change("life", name="Another life")
    assert world.run("promotions_sync").state == "success"
    assert seen(world) == {"a": 7.0}
    assert portal(world) == [("Another life", "Running"), ("Offer life", "Cancelled"), ("Offer soon", "Upcoming")]
    # nothing to do
    before = len(outcomes(world))
    assert world.run("promotions_sync").state == "success"
    assert len(outcomes(world)) == before
    # ended early, and an unknown vendor
    erp.drop("life")
    erp.put("lost", "a", "8", vendor="store-404", base_price="10")
    assert world.run("promotions_sync").state == "failed", "its report names the vendor; everything else is done"
    assert seen(world) == {}
    assert portal(world) == [("Another life", "Cancelled"), ("Offer life", "Cancelled"), ("Offer soon", "Upcoming")]
    assert outcomes(world) == [
        ("life", "create", "COMPLETED", 2, 2, 0),
        ("soon", "create", "COMPLETED", 1, 1, 0),
        ("life", "change", "COMPLETED", 2, 2, 0),
        ("life", "create", "COMPLETED", 1, 1, 0),
        ("life", "end", "COMPLETED", 1, 1, 0),
        ("life", "end", "COMPLETED", 1, 1, 0),
        ("lost", "create", "FAILED", 1, 0, 1),
    ]
    assert world.rows("SELECT vendor, reason FROM warehouse.promotion_outcome WHERE state = 'rejected'") == [
        ("store-404", "invalid vendor")
    ]
    assert world.rows("SELECT campaign, state FROM warehouse.promotion ORDER BY 1") == [
        ("life", "ended"), ("life", "ended"), ("lost", "failed"), ("soon", "sent"),
    ]  # fmt: skip
    # ended by time: three days on everything is over, and nothing has to be sent
    before = len(outcomes(world))
    world.platform.advance(3 * 86_400)
    written(world, LATER)
    assert world.run("promotions_sync").state == "success"
    assert portal(world) == [("Another life", "Cancelled"), ("Offer life", "Cancelled"), ("Offer soon", "Ended")]
    assert len(outcomes(world)) == before


def test_a_job_that_fails_without_a_reason_is_reported_and_sent_again(
    world: World, erp: PromotionErp, monkeypatch: pytest.MonkeyPatch
) -> None:
    erp.put("c1", "a", "8")
    world.platform.faults({"at": "job", "kind": "failed", "times": 1})
    run = world.run("promotions_sync")
    assert run.state == "failed"
    assert states(run)["report"] == {"failed"}
    assert outcomes(world) == [("c1", "create", "FAILED", 1, 0, 0)]
    assert world.rows("SELECT known FROM warehouse.promotion_sku") == [(False,)]
    world.rows("UPDATE ledger.promotion SET retry_at = NULL RETURNING 1")
    assert world.run("promotions_sync").state == "success"
    assert seen(world) == {"a": 8.0}
    assert world.rows("SELECT known FROM warehouse.promotion_sku") == [(True,)]


def test_a_promotion_that_the_platform_already_has_is_a_duplicate_and_accepted(world: World, erp: PromotionErp) -> None:
    erp.put("c1", "a", "8")
    world.platform.faults({"at": "put_promotion", "kind": "drop_answer", "times": 1})
    assert world.run("promotions_sync").state == "success"
    assert outcomes(world) == [("c1", "create", "DUPLICATE", 1, 1, 0)]
    assert seen(world) == {"a": 8.0}
    assert world.rows("SELECT cause FROM warehouse.promotion_finding") == []


def test_a_dry_run_sends_nothing_and_shows_the_plan(
    world: World, erp: PromotionErp, caplog: pytest.LogCaptureFixture
) -> None:
    erp.put("c1", "a", "8", vendor=None)
    run = world.run("promotions_sync", dry_run=True)
    assert run.state == "success"
    assert states(run)["deliver"] == {"skipped"}
    assert portal(world) == []
    assert [
        line for line in caplog.messages if line.startswith("would create campaign c1 (Offer c1): 1 SKUs at 3 vendors")
    ]


def test_without_promotions_in_the_settings_a_run_is_skipped(world: World) -> None:
    run = world.run("promotions_sync")
    assert set.union(*states(run).values()) == {"skipped"}


def test_the_recovery_starts_a_sync_once_the_catalog_brought_a_base_price(world: World, erp: PromotionErp) -> None:
    erp.put("c1", "a", "8", vendor="store-004")
    world.run("promotions_sync")
    assert states(world.run("promotions_recover"))["start_sync"] == {"skipped"}
    world.platform.put_products("store-004", [{"sku": "a", "barcodes": [], "title": "A", "price": 9.0, "active": True}])
    world.erp.put("store-004", "a", "10.00")
    world.synced("full")
    assert states(world.run("promotions_recover"))["start_sync"] == {"success"}


def test_settling_finishes_what_a_killed_run_left(world: World, erp: PromotionErp) -> None:
    erp.put("c1", "a", "8")
    world.platform.faults({"at": "put_promotion", "kind": "drop_answer", "times": 6})
    world.run("promotions_sync")
    assert world.rows("SELECT state FROM ledger.job WHERE kind = 'promotion'") == [("submitting",)]
    for _ in range(3):
        assert world.run("promotions_recover").state == "success"
    assert world.rows("SELECT state, platform_status FROM ledger.job WHERE kind = 'promotion'") == [
        ("acknowledged", "DUPLICATE")
    ]
    assert seen(world) == {"a": 8.0}
