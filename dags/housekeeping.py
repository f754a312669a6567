"""# Housekeeping

Keeps ledger, warehouse and lake bounded: it removes what is older than its retention (`SHELFSYNC_HOUSEKEEPING__...`).

* It never removes what a later step needs, whatever the settings are: open jobs, planned batches, the baseline, the newest export.
* It removes a file of the lake when no row points to it.

`shelfsync housekeeping --dry-run` shows what would be removed. The schedule is the option `housekeeping_schedule`.
"""

from __future__ import annotations

import datetime as dt

from airflow.sdk import dag

from shelfsync_airflow.app import task_defaults
from shelfsync_airflow.options import owner_links, schedule
from shelfsync_airflow.tasks import remove_expired


@dag(
    schedule=schedule("housekeeping"),
    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=dt.timedelta(hours=6),
    default_args=task_defaults(),
    tags=["shelfsync", "housekeeping"],
    owner_links=owner_links(),
    doc_md=__doc__,
)
def housekeeping() -> None:
    remove_expired()


housekeeping()
