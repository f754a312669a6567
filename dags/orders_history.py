"""# Orders: history

Reads past orders from the platform, store by store, and finds orders that no event reported.

`history` → `watch_history`

* shelfsync reads each store from its watermark (less an overlap) to the present, in windows of
  `SHELFSYNC_ORDERS__HISTORY_WINDOW_DAYS` (7), page by page. It stores a page and its cursor in one transaction, so the next run
  continues there. The stores read longest ago come first. A run reads at most `SHELFSYNC_ORDERS__HISTORY_REQUESTS_MAX` pages.
* An order that only the history reports is a gap (`ledger.order_gap`). shelfsync stores the order; if it is open, its store gets it.
* Customer data whose retention time is over are removed.
* `watch_history` fails once for a store whose history will soon be out of reach: the platform shows 60 days.

Clear a task to go on. The schedule is the option `history_schedule`.
"""

from __future__ import annotations

from airflow.sdk import chain

from shelfsync_airflow.chains import dag_of_each_chain
from shelfsync_airflow.order_tasks import history, watch_history


@dag_of_each_chain(__doc__, "orders", hours=2, schedule="history")
def orders_history() -> None:
    chain(history(), watch_history())
