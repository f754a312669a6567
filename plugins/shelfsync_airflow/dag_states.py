"""Which of shelfsync's DAGs are off, do not run though they should, or fail: a task asks Airflow's API server."""

from __future__ import annotations

import datetime as dt
import logging
from functools import partial
from typing import TYPE_CHECKING

from airflow.sdk import get_current_context

from shelfsync.alert_conditions.dags import FailedDag, newest_failure, off_or_late
from shelfsync.chosen_chain import chain_in_use, of_chain
from shelfsync.orders.steps import watch as orders_watch
from shelfsync.outages import ERP, PLATFORM, PROMOTIONS
from shelfsync_airflow.schedules import schedule

if TYPE_CHECKING:
    from airflow.sdk.api.datamodels._generated import DagRun

    from shelfsync.alert_conditions.dags import FoundOfDags

log = logging.getLogger(__name__)

SCHEDULED = {
    "full": "catalog_full_sync",
    "delta": "catalog_delta_sync",
    "export": "assortment_export",
    "holds": "catalog_holds",
    "recover": "catalog_recover",
    "promotions": "promotions_sync",
    "promotions_recover": "promotions_recover",
    "housekeeping": "housekeeping",
    "orders": "orders_fulfilment",
    "history": "orders_history",
}
"""The name of a schedule -> its DAG. The watch is not among them: while it is off, it reports nothing."""
ASKED = {
    "full": (PLATFORM, ERP),
    "delta": (PLATFORM, ERP),
    "promotions": (PLATFORM, ERP, PROMOTIONS),
    "housekeeping": (),
}
"""The name of a schedule -> the services without which its DAG fails; of any other it is the platform."""
_GROWING = ("quarantined", "unreadable")
FAILS_FOR: dict[str, tuple[str, ...]] = {
    "recover": ("rate_limited", "unaccounted"),
    "housekeeping": (),
    "orders": ("rate_limited", *_GROWING),
}
"""The name of a schedule -> the kinds of conditions that make each run of its DAG fail while they last, and that report themselves."""
_OF_SYNCS = ("rows_of_no_store", "changes_missed", "job_events", "columns_changed")
NEWS: dict[str, tuple[str, ...]] = {
    "full": _OF_SYNCS,
    "delta": _OF_SYNCS,
    "orders": tuple(kind for kind in orders_watch.KINDS if kind not in {"history", *_GROWING}),
    "history": ("history",),
}
"""The name of a schedule -> the kinds for which only the run of its DAG fails that reports them first."""


def kinds_off() -> list[str]:
    """The kinds of conditions of orders that no step of a DAG finds any more, because its schedule is `none`."""
    history = ["history"] if schedule("history") is None else []
    if schedule("orders") is not None:
        return history
    return history + [kind for kind in orders_watch.KINDS if kind != "history"]


def wrong_dags() -> FoundOfDags:
    """Kind and DAG of the chain in use -> what is wrong.

    A DAG that has never run is not in use. One whose schedule is `none` is off on purpose.
    """
    task = get_current_context()["ti"]
    now = dt.datetime.now(dt.UTC)
    found: dict[tuple[str, str], str | FailedDag] = {}
    for name, whole in SCHEDULED.items():
        dag_id = of_chain(whole, chain_in_use())
        if schedule(name) is None or task.get_dr_count(dag_id=dag_id) == 0:
            continue
        at_work = task.get_dr_count(dag_id=dag_id, states=["running"]) > 0
        dag = task.get_dag(dag_id)
        wrong = off_or_late(
            dag_id, is_off=dag.is_paused, due=dag.next_dagrun, at_work=at_work, option=f"{name}_schedule", now=now
        )
        found |= wrong
        if not wrong and (failed := newest_failure(partial(_newest, dag_id, now))) is not None:
            found["dag_failed", dag_id] = _described(name, failed)
    return found


def _newest(dag_id: str, before: dt.datetime, state: str | None = None) -> DagRun | None:
    """The newest run of any DAG: `get_previous_dagrun` of a task asks the same about its own DAG alone."""
    from airflow.sdk.execution_time.comms import GetPreviousDagRun, PreviousDagRunResult
    from airflow.sdk.execution_time.task_runner import SUPERVISOR_COMMS

    answer = SUPERVISOR_COMMS.send(GetPreviousDagRun(dag_id=dag_id, logical_date=before, state=state))
    return answer.dag_run if isinstance(answer, PreviousDagRunResult) else None


def _described(name: str, run: DagRun) -> FailedDag:
    began = run.start_date or run.run_after
    ended = run.end_date or began
    line = (
        f"{run.dag_id} failed at {ended:%Y-%m-%d %H:%M} UTC, and has not succeeded since. The log of the failed task has the"
        f" reason: in Airflow, open its run {run.run_id}"
    )
    services, kinds = ASKED.get(name, (PLATFORM,)), FAILS_FOR.get(name, ("rate_limited",))
    return FailedDag(line, f"{run.dag_id}/{run.run_id}", began, ended, services, kinds, NEWS.get(name, ()))
