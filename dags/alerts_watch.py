"""# Alerts: watch

Looks at what is wrong, and sends messages about it by the routes of `SHELFSYNC_ALERTS__ROUTES`.

* A condition is one alert from its first sight to its end, however many runs meet it. A route gets a message when it opens and when it
  closes.
* A message stays in the outbox until its route has taken it.
* If a route refuses its messages, the others report that, and shelfsync tries again after longer and longer waits.

It changes nothing on the platform. The schedule is the option `alerts_schedule`.
"""

from __future__ import annotations

from airflow.sdk import dag

from shelfsync_airflow.app import every_dag
from shelfsync_airflow.options import schedule
from shelfsync_airflow.tasks import watch_alerts


@dag(schedule=schedule("alerts"), **every_dag(__doc__, "alerts", hours=0.25))
def alerts_watch() -> None:
    watch_alerts()


alerts_watch()
