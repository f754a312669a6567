"""What a DAG of the operator can wait for: the event of each asset, with the number of the run; and the DAGs that the page shows."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest

from airflow_world import PROJECT
from promotion_erp import SQL, PromotionErp
from shelfsync.chosen_chain import chosen
from shelfsync_airflow import delta_watch, promotion_tasks
from shelfsync_airflow.assets import CATALOG_SYNCED, EXPORT_OBSERVED, PROMOTIONS_SYNCED, emitting
from shelfsync_airflow.tasks import report

if TYPE_CHECKING:
    from airflow.dag_processing.dagbag import DagBag

    from airflow_world import World


def _events(name: str) -> list[dict[str, object]]:
    import sqlalchemy as sa
    from airflow.models.asset import AssetEvent, AssetModel
    from airflow.utils.session import create_session

    of_asset = sa.select(AssetEvent.extra).join(AssetModel, AssetModel.id == AssetEvent.asset_id)
    with create_session() as session:
        return list(session.scalars(of_asset.where(AssetModel.name == name).order_by(AssetEvent.id)))


@pytest.mark.slow
def test_a_sync_of_the_whole_chain_emits_one_event_and_a_part_of_it_or_a_dry_run_none(world: World) -> None:
    before = len(_events(CATALOG_SYNCED))
    world.run("catalog_full_sync", dry_run=True)
    world.run("catalog_full_sync", vendors=["store-001"])
    assert len(_events(CATALOG_SYNCED)) == before
    assert world.run("catalog_full_sync").state == "success"
    [[number]] = world.rows("SELECT max(run_id) FROM ledger.run")
    assert _events(CATALOG_SYNCED)[before:] == [{"run": number, "state": "succeeded"}]


@pytest.mark.slow
def test_each_dag_that_ends_a_sync_has_its_asset(dag_bag: DagBag) -> None:
    found = {
        dag_id: [outlet.name for outlet in dag.get_task("report").outlets]
        for dag_id, dag in dag_bag.dags.items()
        if dag.has_task("report") and dag.get_task("report").outlets
    }
    assert found == {
        "catalog_full_sync": [CATALOG_SYNCED],
        "catalog_delta_sync": [CATALOG_SYNCED],
        "assortment_export": [EXPORT_OBSERVED],
        "promotions_sync": [PROMOTIONS_SYNCED],
    }


def test_a_chain_of_several_has_an_asset_of_its_own() -> None:
    with chosen("north"):
        task = emitting(CATALOG_SYNCED, report)
    assert [outlet.name for outlet in task.kwargs["outlets"]] == [f"{CATALOG_SYNCED}__north"]


@pytest.mark.slow
def test_the_dags_of_the_page_parse_and_name_assets_that_there_are(airflow_database: object) -> None:
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(PROJECT / "docs/how-to/follow_syncs.py")
    assert bag.import_errors == {}
    assert set(bag.dags) == {"load_erp_copy", "print_price_labels"}
    waits = bag.dags["print_price_labels"].timetable.asset_condition
    assert [one.name for one in waits.objects] == [CATALOG_SYNCED]
    assert [one.name for one in bag.dags["load_erp_copy"].get_task("load").outlets] == [delta_watch.ASSET]
    page = (PROJECT / "docs/how-to/follow-a-sync.md").read_text("utf-8")
    assert str(promotion_tasks.changed().uri) in page


@pytest.mark.slow
def test_an_export_and_a_sync_of_promotions_name_their_run_in_the_event(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELFSYNC_PROMOTIONS__SQL", SQL)
    monkeypatch.setenv("SHELFSYNC_PROMOTIONS__POLL_FIRST_S", "0.05")
    monkeypatch.setenv("SHELFSYNC_PROMOTIONS__POLL_MAX_S", "0.2")
    world.platform.control("PUT", "settings", {"promotion_propagation_s": 0.0})
    PromotionErp(world.erp, dt.datetime.now(dt.UTC)).put("soon", "a", "1")
    observed, promoted = len(_events(EXPORT_OBSERVED)), len(_events(PROMOTIONS_SYNCED))
    world.synced("full")
    assert world.run("assortment_export", vendors=["store-001"]).state == "success"
    assert len(_events(EXPORT_OBSERVED)) == observed
    assert world.run("assortment_export").state == "success"
    assert world.run("promotions_sync").state == "success"
    [[export]] = world.rows("SELECT run_key FROM ledger.export ORDER BY export_id DESC LIMIT 1")
    [[promotions]] = world.rows("SELECT max(run_id) FROM ledger.promotion_run")
    assert _events(EXPORT_OBSERVED)[observed:] == [{"run": export, "state": "succeeded"}]
    assert _events(PROMOTIONS_SYNCED)[promoted:] == [{"run": promotions, "state": "succeeded"}]
