"""The watch asks Airflow which DAGs are off, late or fail; one that never ran, or that has no schedule, is none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from airflow_world import write_dags, written
from shelfsync_airflow.dag_states import SCHEDULED

if TYPE_CHECKING:
    from collections.abc import Callable

    from airflow.dag_processing.dagbag import DagBag

    from airflow_world import World


def _switch(dag_id: str, *, off: bool) -> None:
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session

    with create_session() as session:
        session.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(is_paused=off))


def _open(world: World, dag_id: str = "housekeeping") -> list[tuple[str, str]]:
    """The open alerts of the DAG in question, and those of no DAG: other tests of this Airflow have run other DAGs, which are off."""
    assert world.run("alerts_watch").state == "success"
    mine = f"closed_at IS NULL AND (kind NOT LIKE 'dag%' OR subject = '{dag_id}')"
    return world.rows(f"SELECT kind, subject FROM ledger.alert WHERE {mine} ORDER BY 1, 2")


@pytest.fixture
def each_minute(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Switches a DAG on, with a schedule of each minute, so that it is not late."""
    monkeypatch.setattr("shelfsync_airflow.tasks.BETWEEN_LOOKS_S", 0.0)

    def switch(name: str) -> None:
        monkeypatch.setenv(f"AIRFLOW__SHELFSYNC__{name.upper()}_SCHEDULE", "* * * * *")
        write_dags()
        _switch(SCHEDULED[name], off=False)

    return switch


def test_every_dag_with_a_schedule_is_watched(dag_bag: DagBag) -> None:
    with_schedule = {dag_id for dag_id, dag in dag_bag.dags.items() if dag.schedule is not None}
    assert {*SCHEDULED.values(), "alerts_watch"} == with_schedule


@pytest.mark.slow
def test_a_dag_that_is_off_or_late_is_an_alert_until_it_runs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = "AIRFLOW__SHELFSYNC__HOUSEKEEPING_SCHEDULE"
    monkeypatch.setattr("shelfsync_airflow.tasks.BETWEEN_LOOKS_S", 0.0)
    monkeypatch.setenv(schedule, "* * * * *")
    world.run("housekeeping")
    _switch("housekeeping", off=False)
    assert _open(world) == []
    _switch("housekeeping", off=True)
    assert _open(world) == [("dag_off", "housekeeping")]
    monkeypatch.setenv(schedule, "none")
    assert _open(world) == [], "without a schedule it is off on purpose"
    monkeypatch.setenv(schedule, "0 0 1 1 *")
    _switch("housekeeping", off=False)
    assert _open(world) == [("dag_late", "housekeeping")]


@pytest.mark.slow
def test_a_dag_whose_newest_run_failed_is_an_alert_until_one_succeeds(
    world: World, each_minute: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    each_minute("housekeeping")
    wrong = "SHELFSYNC_HOUSEKEEPING__ALERT_DAYS"
    monkeypatch.setenv(wrong, "many")
    assert world.run("housekeeping").state == "failed"
    monkeypatch.delenv(wrong)
    assert _open(world) == [("dag_failed", "housekeeping")]
    [(line,)] = world.rows("SELECT message FROM ledger.alert WHERE kind = 'dag_failed' AND subject = 'housekeeping'")
    assert line.startswith("housekeeping failed at 20")
    assert world.run("housekeeping").state == "success"
    assert _open(world) == []


@pytest.mark.slow
def test_an_erp_that_is_away_in_the_check_of_a_run_is_one_alert(
    world: World, each_minute: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    each_minute("full")
    with monkeypatch.context() as away:
        away.setenv("SHELFSYNC_ERP__URL", "postgresql+psycopg://u:erp-password@127.0.0.1:1/erp")
        assert world.run("catalog_full_sync").state == "failed"
    written(world, "UPDATE ledger.outage SET began_at = began_at - interval '2 minutes'")
    assert _open(world, "catalog_full_sync") == [("erp_away", "")]
    written(world, "UPDATE ledger.outage SET ended_at = now() - interval '3 hours'")
    assert _open(world, "catalog_full_sync") == [("run_failed", "full")], "deltas may go on, and it is not repeated"
    assert world.run("catalog_full_sync").state == "success"
    assert _open(world, "catalog_full_sync") == []


@pytest.mark.slow
def test_a_sync_that_fails_in_its_check_is_one_alert(
    world: World, each_minute: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    each_minute("full")
    with monkeypatch.context() as wrong:
        wrong.setenv("SHELFSYNC_ERP__SQL", "SELECT price, quantity FROM stock")
        assert world.run("catalog_full_sync").state == "failed"
    assert _open(world, "catalog_full_sync") == [("run_failed", "full")]


@pytest.mark.slow
def test_an_export_that_fails_is_an_alert_unless_the_platform_is_away(
    world: World, each_minute: Callable[[str], None]
) -> None:
    each_minute("export")
    world.synced("full")
    world.platform.faults({"at": "export", "kind": "status_404", "times": 1})
    assert world.run("assortment_export").state == "failed"
    assert _open(world, "assortment_export") == [("dag_failed", "assortment_export")]
    outage = "INSERT INTO ledger.outage (service, began_at, failures, error) VALUES ('platform', now() - interval '1 hour', 1, 'status 503')"
    written(world, outage)
    assert _open(world, "assortment_export") == [], (
        "the outage may be the cause, and the watch asks the platform itself"
    )
