"""Which of shelfsync's DAGs are off, or do not run though they should: a task asks Airflow's API server."""

from __future__ import annotations

import datetime as dt
import logging
from typing import TYPE_CHECKING, Any

from airflow.sdk import get_current_context

from shelfsync_airflow import options

if TYPE_CHECKING:
    from collections.abc import Mapping

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
LATE = dt.timedelta(hours=1)
"""A run that is still at work delays the next one; after so long it is more than that."""


def wrong_dags() -> dict[tuple[str, str], str]:
    """Kind and DAG -> what is wrong, as a sentence.

    A DAG that has never run is not in use. One whose schedule is `none` is off on purpose.
    """
    task = get_current_context()["ti"]
    now = dt.datetime.now(dt.UTC)
    found: dict[tuple[str, str], str] = {}
    for name, dag_id in SCHEDULED.items():
        if options.schedule(name) is None or task.get_dr_count(dag_id=dag_id) == 0:
            continue
        found |= _wrong(task.get_dag(dag_id), now, f"{name}_schedule")
    return found


def _wrong(dag: Any, now: dt.datetime, option: str) -> Mapping[tuple[str, str], str]:
    due: dt.datetime | None = dag.next_dagrun
    if dag.is_paused:
        line = f"{dag.dag_id} is off in Airflow, and it has run before. If that is on purpose, set its option {option} to none"
        return {("dag_off", dag.dag_id): line}
    if due is not None and now - due > LATE:
        line = f"{dag.dag_id} is on and was due at {due:%Y-%m-%d %H:%M} UTC, and Airflow has not started it"
        return {("dag_late", dag.dag_id): line}
    return {}
