"""# Orders: fulfilment

Brings customers' orders from the platform to the stores, and picking results back to the platform. It runs every minute, and at once
when an event or a picking result comes.

`take` → `hand_over` → `collect` → `fulfil` → `reply` → `watch`

* `take` applies the order events of the inbox in the order of the platform's timestamps, whatever order they arrived in.
* `hand_over` sends new and cancelled orders to the stores. It reads a new order back from the platform before a store gets it.
* `collect` reads picking results from the store's database. Results that come by HTTP are stored already.
* `fulfil` validates each result against the platform's rules and sends it. It reads the order back before it sends anything twice.
* `reply` sends the outcome of each result to its store.
* `watch` fails once for each stall: orders that no store takes, orders without a configured hand-over, orders that are taken and not
  picked, results that do not reach the platform, and what is quarantined.

A failure here never cancels an order. A pause of the catalog (`shelfsync pause`) does not stop orders. Every task may run again at any
time. The schedule is the option `orders_schedule`.
"""

from __future__ import annotations

from airflow.sdk import chain

from shelfsync_airflow.chains import dag_of_each_chain
from shelfsync_airflow.order_tasks import collect, fulfil, hand_over, orders_schedule, reply, take, watch


@dag_of_each_chain(__doc__, "orders", hours=0.5, schedule=orders_schedule)
def orders_fulfilment() -> None:
    chain(take(), hand_over(), collect(), fulfil(), reply(), watch())
