"""# Housekeeping

Keeps ledger, warehouse and lake bounded: it removes what is older than its retention (`SHELFSYNC_HOUSEKEEPING__...`).

* It never removes what a later step needs, whatever the settings are: open jobs, planned batches, the baseline, the newest export.
* It removes a file of the lake when no row points to it.

`shelfsync housekeeping --dry-run` shows what would be removed. The schedule is the option `housekeeping_schedule`.
"""

from __future__ import annotations

from shelfsync_airflow.chains import dag_of_each_chain
from shelfsync_airflow.tasks import remove_expired


@dag_of_each_chain(__doc__, "housekeeping", hours=6, schedule="housekeeping")
def housekeeping() -> None:
    remove_expired()
