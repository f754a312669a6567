"""The watch asks Airflow which DAGs are off or late; one that never ran, or that has no schedule, is none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

if TYPE_CHECKING:
    from airflow.dag_processing.dagbag import DagBag

    from airflow_world import World


def _switch(dag_id: str, *, off: bool) -> None:
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session

    with create_session() as session:
        session.execute(update(DagModel).where(DagModel.dag_id == dag_id).values(is_paused=off))


def _open(world: World) -> list[tuple[str, str]]:
    """The open alerts of the DAG in question: other tests of this Airflow have run other DAGs, which are off."""
    assert world.run("alerts_watch").state == "success"
    return world.rows(
        "SELECT kind, subject FROM ledger.alert WHERE closed_at IS NULL AND subject = 'housekeeping' ORDER BY 1, 2"
    )


def test_every_dag_with_a_schedule_is_watched(dag_bag: DagBag) -> None:
    from shelfsync_airflow.dag_states import SCHEDULED

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
