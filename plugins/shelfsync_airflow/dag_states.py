"""Which of shelfsync's DAGs are off, or do not run though they should: a task asks Airflow's API server."""

from __future__ import annotations

import datetime as dt
import logging
from typing import TYPE_CHECKING, Any

from airflow.sdk import get_current_context

from shelfsync.chosen_chain import chain_in_use
from shelfsync_airflow import options
from shelfsync_airflow.names import of_chain

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
"""The scheduler starts a run within seconds; after so long it does not."""


def wrong_dags() -> dict[tuple[str, str], str]:
    """Kind and DAG of the chain in use -> what is wrong, as a sentence.

    A DAG that has never run is not in use. One whose schedule is `none` is off on purpose. A long run delays the next one: that is no fault.
    """
    task = get_current_context()["ti"]
    now = dt.datetime.now(dt.UTC)
    found: dict[tuple[str, str], str] = {}
    for name, whole in SCHEDULED.items():
        dag_id = of_chain(whole, chain_in_use())
        if options.schedule(name) is None or task.get_dr_count(dag_id=dag_id) == 0:
            continue
        at_work = task.get_dr_count(dag_id=dag_id, states=["running"]) > 0
        found |= _wrong(task.get_dag(dag_id), now, f"{name}_schedule", at_work=at_work)
    return found


def _wrong(dag: Any, now: dt.datetime, option: str, *, at_work: bool) -> Mapping[tuple[str, str], str]:
    due: dt.datetime | None = dag.next_dagrun
    if dag.is_paused:
        line = f"{dag.dag_id} is off in Airflow, and it has run before. If that is on purpose, set its option {option} to none"
        return {("dag_off", dag.dag_id): line}
    if due is not None and now - due > LATE and not at_work:
        line = f"{dag.dag_id} is on and was due at {due:%Y-%m-%d %H:%M} UTC, and Airflow has not started it"
        return {("dag_late", dag.dag_id): line}
    return {}
