"""# Catalog recover

Completes open work. Webhook events make work start sooner; this schedule guarantees that it ends.

* If the webhook of a job does not come, shelfsync polls the job, fetches its log and acknowledges its outcomes.
* A job past its deadline becomes unconfirmed: the next delta sends the newest values of its products.
* If a run was killed, stopped or marked by hand, this DAG completes its jobs and batches. If a newer run has superseded them, it does not.

A run with nothing to do ends at once. The schedule is the option `recover_schedule`.
"""

from __future__ import annotations

import datetime as dt

from airflow.sdk import dag

from shelfsync_airflow.app import task_defaults
from shelfsync_airflow.options import owner_links, schedule
from shelfsync_airflow.tasks import recover


@dag(
    schedule=schedule("recover"),
    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=dt.timedelta(hours=1),
    default_args=task_defaults(),
    tags=["shelfsync", "catalog"],
    owner_links=owner_links(),
    doc_md=__doc__,
)
def catalog_recover() -> None:
    recover()


catalog_recover()
