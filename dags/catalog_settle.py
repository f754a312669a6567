"""# Catalog settle

Finishes what events lost. Webhooks hurry the work, this schedule carries it.

* A job whose webhook never came is asked about; its log is fetched, its outcomes are acknowledged.
* A job past its deadline becomes unconfirmed: the next delta sends the newest values of its products.
* A run that was killed, stopped or marked by hand leaves jobs and batches behind; they are finished here, unless a newer run has
  gone past them.

A run with nothing to do ends at once. The schedule is the option `settle_schedule`.
"""

from __future__ import annotations

import datetime as dt

from airflow.sdk import dag

from shelfsync_airflow.failures import task_defaults
from shelfsync_airflow.options import owner_links, schedule
from shelfsync_airflow.tasks import settle


@dag(
    schedule=schedule("settle"),
    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=dt.timedelta(hours=1),
    default_args=task_defaults(),
    tags=["shelfsync", "catalog"],
    owner_links=owner_links(),
    doc_md=__doc__,
)
def catalog_settle() -> None:
    settle()


catalog_settle()
