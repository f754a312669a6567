"""Whole runs of the export DAG by `dag.test()`: exports are observed, and the next delta resends what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from airflow_world import CUT, STORES, states

if TYPE_CHECKING:
    from airflow_world import World

DRIFT = "SELECT vendor, sku, field, cause, action FROM warehouse.drift ORDER BY 1, 2, 3"


@pytest.mark.slow
def test_a_change_in_the_portal_is_observed_and_the_next_delta_resends_the_value(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELFSYNC_DRIFT__PROPAGATION_S", "0")
    monkeypatch.setenv("SHELFSYNC_SYNC__VENDORS_PER_SHARD", "2")
    world.run("catalog_full_sync")
    run = world.run("assortment_export")
    assert set.union(*states(run).values()) == {"success"}
    assert world.rows("SELECT vendor, rows FROM warehouse.observation ORDER BY 1") == [(vendor, 3) for vendor in STORES]
    assert world.rows(DRIFT) == []
    edited = [{"sku": sku, "title": sku, "price": 5.0 if sku == "b" else 1.234, "active": True} for sku in CUT]
    world.platform.put_products("store-002", edited)
    assert world.run("assortment_export").state == "success"
    assert world.rows(DRIFT) == [("store-002", "b", "price", "changed_on_platform", "resend")]
    world.run("catalog_delta_sync")
    assert world.prices() == [CUT] * 3


@pytest.mark.slow
def test_only_the_vendors_of_the_form_are_exported(world: World) -> None:
    assert world.run("assortment_export", vendors=[" store-002 "]).state == "success"
    asked = [entry["route"] for entry in world.platform.journal()["entries"] if entry["operation"] == "export"]
    assert len(asked) == 1
    assert "store-002" in asked[0]


def test_an_export_before_the_first_sync_has_nothing_to_do_and_is_no_failure(world: World) -> None:
    run = world.run("assortment_export")
    assert run.state == "success"
    assert set.union(*states(run).values()) == {"skipped"}
    assert [entry for entry in world.platform.journal()["entries"] if entry["operation"] == "export"] == []


@pytest.mark.slow
def test_a_store_whose_export_fails_stops_no_other_and_the_run_names_it(world: World) -> None:
    world.run("catalog_full_sync")
    world.platform.faults({"at": "export", "kind": "status_404", "times": 1})
    run = world.run("assortment_export")
    assert run.state == "failed"
    assert states(run)["report"] == {"failed"}
    assert len(world.rows("SELECT vendor FROM warehouse.observation")) == 2
    failed = world.rows(
        "SELECT failed_step, error IS NOT NULL FROM ledger.export JOIN ledger.job USING (export_id) WHERE state <> 'acknowledged'"
    )
    assert failed == [("export", True)]
