"""# Promotions recover

Completes open work of promotions that a task or a process did not complete. A run with nothing to do ends at once.

* If the answer to a request was lost, shelfsync resends the identical request until it gets an answer or the deadline passes.
* shelfsync polls every open job. When a job has ended, it confirms the outcome of each SKU.
* A job past its deadline becomes unconfirmed: the next run of promotions_sync sends the same again.
* If a person has approved what was held of a campaign, or the catalog brought a base price that a campaign waits for, `start_sync` starts
  promotions_sync at once.

The schedule is the option `promotions_recover_schedule`.
"""

from __future__ import annotations

from shelfsync_airflow.chains import dag_of_each_chain
from shelfsync_airflow.promotion_tasks import changed, recover, start_sync


@dag_of_each_chain(__doc__, "promotions", hours=1, schedule="promotions_recover")
def promotions_recover() -> None:
    recover()
    start_sync.override(outlets=[changed()])()
