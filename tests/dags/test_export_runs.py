"""Whole runs of the export DAG by `dag.test()`: exports are observed, and the next delta resends what differs."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest

from airflow_world import CUT, STORES, states, written

if TYPE_CHECKING:
    from airflow_world import World

DRIFT = "SELECT vendor, sku, field, cause, action FROM warehouse.drift ORDER BY observed_at, vendor, sku, field"


@pytest.mark.slow
def test_a_change_in_the_portal_is_observed_and_the_next_delta_resends_the_value(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELFSYNC_DRIFT__PROPAGATION_S", "0")
    monkeypatch.setenv("SHELFSYNC_SYNC__VENDORS_PER_SHARD", "2")
    world.synced("full")
    run = world.run("assortment_export")
    assert set.union(*(found for task, found in states(run).items() if task != "look_again")) == {"success"}
    assert world.rows("SELECT vendor, rows FROM warehouse.observation ORDER BY 1") == [(vendor, 3) for vendor in STORES]
    assert world.rows(DRIFT) == []
    edited = [{"sku": sku, "title": sku, "price": 5.0 if sku == "b" else 1.234, "active": True} for sku in CUT]
    world.platform.put_products("store-002", edited)
    assert world.run("assortment_export").state == "success"
    assert world.rows(DRIFT) == [("store-002", "b", "price", "changed_on_platform", "resend")]
    world.synced("delta")
    assert world.prices() == [CUT] * 3


@pytest.mark.slow
def test_only_the_vendors_of_the_form_are_exported(world: World) -> None:
    assert world.run("assortment_export", vendors=[" store-002 "]).state == "success"
    asked = [entry["route"] for entry in world.platform.journal()["entries"] if entry["operation"] == "export"]
    assert len(asked) == 1
    assert "store-002" in asked[0]


@pytest.mark.slow
def test_an_export_before_the_first_sync_has_nothing_to_do_and_is_no_failure(world: World) -> None:
    run = world.run("assortment_export")
    assert run.state == "success"
    assert set.union(*states(run).values()) == {"skipped"}
    assert [entry for entry in world.platform.journal()["entries"] if entry["operation"] == "export"] == []


@pytest.mark.slow
def test_a_store_whose_export_fails_stops_no_other_and_the_run_names_it(world: World) -> None:
    world.synced("full")
    world.platform.faults({"at": "export", "kind": "status_404", "times": 1})
    run = world.run("assortment_export")
    assert run.state == "failed"
    assert states(run)["report"] == {"failed"}
    assert len(world.rows("SELECT vendor FROM warehouse.observation")) == 2
    failed = world.rows(
        "SELECT failed_step, error IS NOT NULL FROM ledger.export JOIN ledger.job USING (export_id) WHERE state <> 'acknowledged'"
    )
    assert failed == [("export", True)]


@pytest.mark.slow
def test_what_was_too_young_to_show_is_looked_at_once_more_and_found(world: World) -> None:
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session

    world.synced("full")
    edited = [{"sku": sku, "title": sku, "price": 5.0 if sku == "b" else 1.234, "active": True} for sku in CUT]
    world.platform.put_products("store-002", edited)
    first = world.run("assortment_export")
    assert first.state == "success"
    assert world.rows(DRIFT) == [("store-002", "b", "price", "export_older_than_change", "ignore")]
    with create_session() as session:
        second = session.query(DagRun).filter(DagRun.dag_id == "assortment_export", DagRun.state == "queued").one()
        assert second.run_id == f"second_look__{first.run_id}"
        assert second.conf == {"vendors": ["store-002"], "second_look": True}
        assert 1500 < (second.run_after - dt.datetime.now(dt.UTC)).total_seconds() < 1801
    for table, instant in (("ledger.job", "ended_at"), ("ledger.observation", "observed_at")):
        written(world, f"UPDATE {table} SET {instant} = {instant} - INTERVAL '1 hour'")
    again = world.run("assortment_export", **second.conf)
    assert (again.state, states(again)["look_again"]) == ("success", {"skipped"})
    assert world.rows(DRIFT)[1:] == [("store-002", "b", "price", "acknowledged_not_applied", "resend")]


@pytest.mark.slow
def test_no_second_look_is_planned_if_every_value_could_show(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.synced("full")
    run = world.run("assortment_export")
    assert (run.state, states(run)["look_again"]) == ("success", {"skipped"})
    world.platform.put_products("store-002", [{"sku": "b", "title": "b", "price": 5.0, "active": True}])
    monkeypatch.setenv("SHELFSYNC_DRIFT__SECOND_LOOK", "false")
    assert states(world.run("assortment_export"))["look_again"] == {"skipped"}
