"""# Orders: fulfilment

Brings customers' orders from the platform to the stores, and what the stores picked back to the platform; every minute, and at once when
an event or a picking result comes.

`take` → `hand_over` → `collect` → `fulfil` → `reply` → `watch`

* `take` applies the order events of the inbox, in the order of the platform's own instants, whatever order they came in.
* `hand_over` tells stores of new and cancelled orders; a new one is read back from the platform before a store sees it.
* `collect` reads picking results out of the store's database; those that come by HTTP are there already.
* `fulfil` holds each result against the platform's rules, sends it, and reads the order back before it sends anything twice.
* `reply` tells stores what became of their results.
* `watch` fails once for each stall: orders that no store takes, orders without a configured way to the stores, results that do not reach
  the platform.

A failure here never cancels an order. A pause of the catalog (`shelfsync pause`) does not stop orders. Everything may run again at any
time. The schedule is the option `orders_schedule`.
"""

from __future__ import annotations

import datetime as dt

from airflow.sdk import chain, dag

from shelfsync_airflow.failures import task_defaults
from shelfsync_airflow.options import owner_links
from shelfsync_airflow.order_news import often_and_at_once
from shelfsync_airflow.order_tasks import collect, fulfil, hand_over, reply, take, watch


@dag(
    schedule=often_and_at_once(),
    start_date=dt.datetime(2025, 1, 1, tzinfo=dt.UTC),
    catchup=False,
    max_active_runs=1,
    dagrun_timeout=dt.timedelta(minutes=30),
    default_args=task_defaults(),
    tags=["shelfsync", "orders"],
    owner_links=owner_links(),
    doc_md=__doc__,
)
def orders_fulfilment() -> None:
    chain(take(), hand_over(), collect(), fulfil(), reply(), watch())


orders_fulfilment()
