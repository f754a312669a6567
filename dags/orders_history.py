"""# Orders: history

Reads what the platform knows of past orders, store by store, and finds the orders that no event told of.

`history` → `watch_history`

* Each store is read from its watermark (less an overlap) to the present, by windows of at most 60 days, page by page. A page and the cursor
  behind it land together: the next run goes on where this one ended. The stores read longest ago come first; a run reads so many pages
  as `SHELFSYNC_ORDERS__HISTORY_REQUESTS_MAX` says.
* An order that only the history told of is a gap (`ledger.order_gap`); it is repaired by that, and an open one goes to its store.
* Customers whose retention time is over are forgotten.
* `watch_history` fails once for a store whose history will soon be out of reach: the platform shows 60 days.

Clear a task to go on. The schedule is the option `history_schedule`.
"""

from __future__ import annotations

import datetime as dt

from airflow.sdk import chain, dag

from shelfsync_airflow.failures import task_defaults
from shelfsync_airflow.options import owner_links, schedule
from shelfsync_airflow.order_tasks import history, watch_history


@dag(
    schedule=schedule("history"),
    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=dt.timedelta(hours=2),
    default_args=task_defaults(),
    tags=["shelfsync", "orders"],
    owner_links=owner_links(),
    doc_md=__doc__,
)
def orders_history() -> None:
    chain(history(), watch_history())


orders_history()
