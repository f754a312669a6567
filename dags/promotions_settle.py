"""# Promotions settle

Finishes what tasks and processes lost on the way of a promotion. A run with nothing to do ends at once.

* A request whose answer was lost is sent again, identical, until it is answered or its deadline has passed.
* A job that nobody asked about is asked about; what has ended is confirmed, SKU by SKU.
* A job past its deadline becomes unconfirmed: the next run of promotions_sync says the same again.

The schedule is the option `promotions_settle_schedule`.
"""

from __future__ import annotations

import datetime as dt

from airflow.sdk import dag

from shelfsync_airflow.failures import task_defaults
from shelfsync_airflow.options import owner_links, schedule
from shelfsync_airflow.promotion_tasks import settle


@dag(
    schedule=schedule("promotions_settle"),
    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=dt.timedelta(hours=1),
    default_args=task_defaults(),
    tags=["shelfsync", "promotions"],
    owner_links=owner_links(),
    doc_md=__doc__,
)
def promotions_settle() -> None:
    settle()


promotions_settle()
