"""# Housekeeping

Keeps ledger, warehouse and lake bounded: it removes what is older than its retention (`SHELFSYNC_HOUSEKEEPING__...`).

* It never removes what a later step needs, whatever the settings are: open jobs, planned batches, the baseline, the newest export.
* It removes a file of the lake when no row points to it.

`shelfsync housekeeping --dry-run` shows what would be removed. The schedule is the option `housekeeping_schedule`.
"""

from __future__ import annotations

from airflow.sdk import dag

from shelfsync_airflow.app import every_dag
from shelfsync_airflow.options import schedule
from shelfsync_airflow.tasks import remove_expired


@dag(schedule=schedule("housekeeping"), **every_dag(__doc__, "housekeeping", hours=6))
def housekeeping() -> None:
    remove_expired()


housekeeping()
