"""# Housekeeping

Keeps ledger, warehouse and lake bounded: what is older than its retention (`SHELFSYNC_HOUSEKEEPING__...`) goes.

* What a later step still needs stays whatever the settings say: open jobs, planned batches, the state in force, the newest export.
* A file of the lake goes when no row points to it any more.

`shelfsync housekeeping --dry-run` shows what could go. The schedule is the option `housekeeping_schedule`.
"""

from __future__ import annotations

import datetime as dt

from airflow.sdk import dag

from shelfsync_airflow.failures import task_defaults
from shelfsync_airflow.options import owner_links, schedule
from shelfsync_airflow.tasks import keep_house


@dag(
    schedule=schedule("housekeeping"),
    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=dt.timedelta(hours=6),
    default_args=task_defaults(),
    tags=["shelfsync", "house"],
    owner_links=owner_links(),
    doc_md=__doc__,
)
def housekeeping() -> None:
    keep_house()


housekeeping()
