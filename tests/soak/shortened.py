"""A day's settings within minutes, all by the options an operator has."""

from __future__ import annotations

from installation.installed import SHORT_TIMEOUTS

SCHEDULES = {
    "FULL": "none",
    "DELTA": "*/3 * * * *",
    "EXPORT": "2-59/6 * * * *",
    "HOLDS": "1-59/2 * * * *",
    "RECOVER": "*/2 * * * *",
    "PROMOTIONS": "1-59/4 * * * *",
    "PROMOTIONS_RECOVER": "*/3 * * * *",
    "HOUSEKEEPING": "4-59/6 * * * *",
    "ORDERS": "*/2 * * * *",
    "HISTORY": "3-59/5 * * * *",
}
SLOWEST_S = 360.0
"""Between two runs of what runs most rarely of all that has to bring platform and ERP together: the export."""
JOB_DEADLINE_S = 120.0

SETTINGS = {
    "SYNC__PRIORITY_SPLIT_SKUS": "100",
    "SYNC__JOB_DEADLINE_S": str(JOB_DEADLINE_S),
    "SYNC__POLL_FIRST_S": "5",
    "SYNC__POLL_MAX_S": "20",
    "PROMOTIONS__JOB_DEADLINE_S": str(JOB_DEADLINE_S),
    "PROMOTIONS__POLL_MAX_S": "20",
    "PROMOTIONS__RETRY_S": "60",
    "EXPORT__DEADLINE_S": str(JOB_DEADLINE_S),
    "DRIFT__PROPAGATION_S": "1",
    "DRIFT__RESENDS_MAX": "20",
    "REJECTION__RETRY_FIRST_S": "30",
    "REJECTION__RETRY_MAX_S": "60",
    "ORDERS__CONFIRM_S": "15",
    "ORDERS__RETRY_FIRST_S": "3",
    "ORDERS__HISTORY_LAG_S": "20",
    "HOUSEKEEPING__EVENT_DAYS": "0.006",
    "HOUSEKEEPING__SNAPSHOT_DAYS": "0.004",
    "HOUSEKEEPING__BASELINE_DAYS": "0.004",
    "HOUSEKEEPING__OBSERVATION_DAYS": "0.006",
    "HOUSEKEEPING__QUARANTINE_DAYS": "0.006",
    "LOCAL__PICKING_DELAY_S": "3",
    "LOCAL__CUSTOMER_INTERVAL_S": "20",
}
"""Of shelfsync. Faults cause repeated drift here, so the limit of resends is higher than on a usual day.

Runs, jobs and outcomes are kept as long as by default, because the claims count them.
"""
SANDBOX = {"propagation_s": 0, "promotion_propagation_s": 0, "webhook_backoff_s": [1, 3, 10, 20, 30]}
"""What customers see can be judged at once; an event that does not arrive is sent again within the soak."""


def environment(minutes: float) -> dict[str, str]:
    """The variables for `make up`. Customers order no more than the time allows, so that their orders come to an end."""
    schedules = {f"AIRFLOW__SHELFSYNC__{name}_SCHEDULE": cron for name, cron in SCHEDULES.items()}
    settings = {f"SHELFSYNC_{name}": value for name, value in SETTINGS.items()}
    most = int(minutes * 60 / float(SETTINGS["LOCAL__CUSTOMER_INTERVAL_S"]))
    return schedules | SHORT_TIMEOUTS | settings | {"SHELFSYNC_LOCAL__CUSTOMER_ORDERS_MAX": str(most)}
