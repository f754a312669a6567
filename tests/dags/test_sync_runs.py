"""Whole runs of the sync DAGs by `dag.test()`: a real ERP table, the live platform, a real database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from airflow_world import CUT, STORES, states
from small_erp import SQL

if TYPE_CHECKING:
    from airflow_world import World

OUTCOMES = "SELECT vendor, state, count(*) FROM warehouse.sku_outcome GROUP BY 1, 2 ORDER BY 1"


@pytest.mark.slow
def test_a_full_sync_makes_the_platform_equal_to_the_erp_shard_by_shard(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELFSYNC_SYNC__VENDORS_PER_SHARD", "2")
    run = world.run("catalog_full_sync")
    assert set.union(*states(run).values()) == {"success"}
    assert world.prices() == [CUT] * 3
    assert world.rows(OUTCOMES) == [(vendor, "accepted", 3) for vendor in STORES]
    labels = {ti.rendered_map_index for ti in run.get_task_instances() if ti.task_id == "shard.deliver"}
    assert labels == {"store-001 … store-002 (2)", "store-003"}


@pytest.mark.slow
def test_a_delta_sends_only_what_changed_and_nothing_when_nothing_did(world: World) -> None:
    world.synced("full")
    assert world.rows(OUTCOMES) == [(vendor, "accepted", 3) for vendor in STORES]
    world.erp.put("store-002", "b", "7.5", 10)
    before = len(world.sent())
    assert world.run("catalog_delta_sync").state == "success"
    assert world.sent()[before:] == ["store-002"], world.rows("TABLE warehouse.catalog_job")
    assert world.prices() == [CUT, CUT | {"b": 7.5}, CUT]
    last = "SELECT vendor, sku, price, quantity FROM warehouse.sku_outcome WHERE job_id = (SELECT max(job_id) FROM warehouse.catalog_job)"
    assert world.rows(last) == [("store-002", "b", 7.5, None)]
    before = len(world.sent())
    assert world.run("catalog_delta_sync").state == "success"
    run = world.run("catalog_delta_sync")  # reads the same rows of every vendor again, so there is no shard
    assert (run.state, states(run)["prepare"], states(run)["report"]) == ("success", {"skipped"}, {"success"})
    assert world.rows("SELECT state FROM ledger.run ORDER BY run_id DESC LIMIT 1") == [("succeeded",)]
    assert len(world.sent()) == before


@pytest.mark.slow
def test_a_dry_run_sends_nothing_ends_quietly_and_shows_the_plan(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    run = world.run("catalog_full_sync", dry_run=True)
    ended = states(run)
    assert run.state == "success"
    assert [ended[task] for task in ("prepare", "deliver", "wait", "confirm")] == [
        {"success"}, {"skipped"}, {"skipped"}, {"skipped"},
    ]  # fmt: skip
    assert ended["report"] == {"success"}
    assert world.sent() == []
    assert world.rows("SELECT count(*) FROM ledger.job") == [(0,)]
    assert [line for line in caplog.messages if line.startswith("vendor store-003: 3 new")]
    assert [line for line in caplog.messages if line.startswith("extract: column price (price in the ERP): ")]


@pytest.mark.slow
def test_only_the_vendors_of_the_form_are_synced(world: World) -> None:
    assert world.run("catalog_full_sync", vendors=[" store-002 "]).state == "success"
    assert world.sent() == ["store-002"]


@pytest.mark.slow
def test_a_vendor_that_fails_stops_no_other_and_the_run_reports_which_and_why(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.erp.put("store-404", "a", "1.00")
    run = world.run("catalog_full_sync")
    ended = states(run)
    assert run.state == "failed"
    assert ended.pop("report") == {"failed"}
    assert set.union(*ended.values()) == {"success"}
    assert world.prices() == [CUT] * 3
    lines = [line for line in caplog.messages if line.startswith("vendor store-") and " failed at " in line]
    assert {line.split(":")[0] for line in lines} == {"vendor store-404 failed at deliver"}


@pytest.mark.slow
def test_the_next_delta_sends_what_a_failed_vendor_still_needs(world: World) -> None:
    world.platform.faults({"at": "put_catalog", "kind": "status_404", "times": 1})
    assert world.run("catalog_full_sync").state == "failed"
    assert world.prices() != [CUT] * 3
    assert world.run("catalog_delta_sync").state == "success"
    assert world.prices() == [CUT] * 3


@pytest.mark.slow
def test_a_vendor_with_several_bodies_is_through_in_one_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.synced("full")
    monkeypatch.setenv("SHELFSYNC_SYNC__PRIORITY_SPLIT_SKUS", "0")
    world.erp.put("store-002", "a", "1.2345", 0)
    world.erp.put("store-002", "b", "7.5", 10)
    world.erp.put("store-002", "c", "1.2345", 11)
    before = len(world.sent())
    run = world.run("catalog_delta_sync")
    assert run.state == "success"
    assert world.sent()[before:] == ["store-002"] * 2, (
        "a stop-sell and a price, which takes nothing along, and the rest"
    )
    priorities = (
        "SELECT priority, state FROM ledger.batch WHERE run_id = (SELECT max(run_id) FROM ledger.run) ORDER BY batch_id"
    )
    assert world.rows(priorities) == [("stop_sell", "done"), ("catalog", "done")]


@pytest.mark.slow
def test_an_urgent_run_sends_the_named_skus_alone(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.synced("full")
    for store in STORES:
        for sku in ("a", "b"):
            world.erp.put(store, sku, "1.5", 10)
    run = world.run("catalog_urgent_sync", vendors=["store-002"], skus=[" a "])
    assert run.state == "success"
    assert world.prices() == [CUT, CUT | {"a": 1.5}, CUT]
    assert "vendor store-002, SKU 'a': accepted" in caplog.messages


@pytest.mark.slow
@pytest.mark.parametrize("form", [{"vendors": ["store-002"]}, {"skus": ["a"]}, {}])
def test_an_urgent_run_without_a_vendor_or_a_sku_does_not_begin(world: World, form: dict[str, Any]) -> None:
    from airflow.sdk.exceptions import ParamValidationError

    with pytest.raises(ParamValidationError):
        world.run("catalog_urgent_sync", **form)


@pytest.fixture
def followed(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The ERP of the world reports its changes by a number."""
    world.erp.execute("ALTER TABLE stock ADD COLUMN changed INTEGER DEFAULT 1")
    monkeypatch.setenv(
        "SHELFSYNC_ERP__CHANGES_SQL", f"{SQL.replace(' FROM', ', changed FROM')} WHERE changed >= :since"
    )
    monkeypatch.setenv("SHELFSYNC_ERP__CHANGES_COLUMN", "changed")
    monkeypatch.setenv("SHELFSYNC_ERP__CHANGES_KIND", "number")
    monkeypatch.setenv("SHELFSYNC_ERP__CHANGES_OVERLAP", "0")
    return world


CHANGE = "UPDATE stock SET price = '7.5', changed = 2 WHERE vendor = 'store-002' AND sku = 'b'"


@pytest.mark.slow
def test_a_delta_reads_only_what_changed_and_is_skipped_in_its_first_task_when_nothing_did(followed: World) -> None:
    world = followed
    world.synced("full", "delta")  # the delta compares once more what was acknowledged
    world.erp.execute(CHANGE)
    before = len(world.sent())
    assert world.run("catalog_delta_sync").state == "success"
    assert world.sent()[before:] == ["store-002"]
    assert world.prices() == [CUT, CUT | {"b": 7.5}, CUT]
    world.run("catalog_delta_sync")
    runs = world.rows("SELECT count(*) FROM ledger.run")
    run = world.run("catalog_delta_sync")
    assert (run.state, set.union(*states(run).values())) == ("success", {"skipped"})
    assert world.rows("SELECT count(*) FROM ledger.run") == runs


@pytest.mark.slow
def test_the_watcher_fires_for_a_change_once_and_never_for_nothing(followed: World) -> None:
    import asyncio

    from shelfsync_airflow.delta_watch import ChangesTrigger

    world = followed
    world.synced("full", "delta", "delta")

    async def fired() -> str:
        path, arguments = ChangesTrigger().serialize()
        assert (path.rsplit(".", 1)[1], arguments) == ("ChangesTrigger", {"chain": None})
        run = ChangesTrigger().run()
        waiting = asyncio.ensure_future(anext(run))
        done, _ = await asyncio.wait([waiting], timeout=5)
        assert not done
        await asyncio.to_thread(world.erp.execute, CHANGE)
        event = await asyncio.wait_for(waiting, 30)
        again = asyncio.ensure_future(anext(run))
        done, _ = await asyncio.wait([again], timeout=5)
        assert not done
        again.cancel()
        return event.payload["why"]

    assert asyncio.run(fired()) == "the ERP has changes since 1"
