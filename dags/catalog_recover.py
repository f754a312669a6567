"""# Catalog recover

Completes open work. Webhook events make work start sooner; this schedule guarantees that it ends.

* If the webhook of a job does not come, shelfsync polls the job, fetches its log and acknowledges its outcomes.
* A job past its deadline becomes unconfirmed: the next delta sends the newest values of its products.
* If a run was killed, stopped or marked by hand, this DAG completes its jobs and batches. If a newer run has superseded them, it does not.

A run with nothing to do ends at once. The schedule is the option `recover_schedule`.
"""

from __future__ import annotations

from shelfsync_airflow.chains import dag_of_each_chain
from shelfsync_airflow.tasks import recover


@dag_of_each_chain(__doc__, "catalog", hours=1, schedule="recover")
def catalog_recover() -> None:
    recover()
