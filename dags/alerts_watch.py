"""# Alerts: watch

Looks at what is wrong, and sends messages about it by the routes of `SHELFSYNC_ALERTS__ROUTES`.

* A condition is one alert from its first sight to its end, however many runs meet it. A route gets a message when it opens and when it
  closes.
* It looks twice in its minute. If no run has asked the platform lately, it asks by a request that changes nothing.
* A message stays in the outbox until its route has taken it, or its alert is over.
* If a route refuses its messages, the others report that, and shelfsync tries again after longer and longer waits.

It changes nothing on the platform. The schedule is the option `alerts_schedule`.
"""

from __future__ import annotations

from shelfsync_airflow.chains import dag_of_each_chain
from shelfsync_airflow.tasks import watch_alerts


@dag_of_each_chain(__doc__, "alerts", hours=0.25, schedule="alerts")
def alerts_watch() -> None:
    watch_alerts()
