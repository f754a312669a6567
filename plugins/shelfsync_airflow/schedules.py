"""When each DAG runs: the schedules that an operator may change, with their defaults, and whether changes of the ERP start a delta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync_airflow.option import Option, read_option

if TYPE_CHECKING:
    from airflow.sdk import Asset

NEVER = frozenset({"", "none", "never"})


def _cron(default: str, runs: str, more: str = "", example: str | None = None) -> Option:
    return Option(default, "string", f"When {runs}: a cron expression in UTC, or none{more}.", example)


SCHEDULES = {
    "full_schedule": _cron("7 3 * * *", "catalog_full_sync runs", example="30 2 * * *"),
    "delta_schedule": _cron(
        "*/15 * * * *",
        "catalog_delta_sync runs",
        "; with delta_watch = changes, a change in the ERP starts it too",
    ),
    "delta_watch": Option(
        "none",
        "string",
        "changes: start catalog_delta_sync also within seconds of a change in the ERP; needs SHELFSYNC_ERP__CHANGES_SQL or _FILES. none: do not.",
        "changes",
    ),
    "alerts_schedule": _cron("* * * * *", "alerts_watch runs", "; with none, no message is sent"),
    "export_schedule": _cron("37 4 * * *", "assortment_export runs", example="15 5 * * *"),
    "holds_schedule": _cron("1-59/5 * * * *", "catalog_holds asks about what the guards hold"),
    "recover_schedule": _cron("*/5 * * * *", "catalog_recover runs"),
    "promotions_schedule": _cron("17 * * * *", "promotions_sync runs", "; an event of its asset always starts it"),
    "promotions_recover_schedule": _cron("*/10 * * * *", "promotions_recover runs"),
    "housekeeping_schedule": _cron("17 5 * * *", "housekeeping runs"),
    "orders_schedule": _cron(
        "* * * * *",
        "orders_fulfilment runs",
        "; events and picking results start it too. With none, nothing starts it but a person: orders stop",
    ),
    "history_schedule": _cron("*/15 * * * *", "orders_history runs"),
}


def timetable(kind: str) -> Any:
    """The schedule of one DAG as a timetable whose next run is the instant at which it starts, whatever Airflow's `create_cron_data_intervals`."""
    from airflow.sdk import CronTriggerTimetable

    cron = schedule(kind)
    return None if cron is None else CronTriggerTimetable(cron, timezone="UTC")


def schedule(kind: str) -> str | None:
    """The schedule of one DAG, by its name: full, delta, export, recover, orders, history and so on."""
    text = _read(f"{kind}_schedule").strip()
    return None if text.lower() in NEVER else text


def schedule_or_asset(kind: str, changed: Asset) -> Any:
    """The schedule of one DAG that an event of an asset starts as well; the asset alone where there is no schedule."""
    from airflow.sdk import AssetOrTimeSchedule

    when = timetable(kind)
    return [changed] if when is None else AssetOrTimeSchedule(timetable=when, assets=[changed])


def watches() -> bool:
    """Whether changes of the ERP start a delta."""
    return _read("delta_watch").strip().lower() not in NEVER


def _read(name: str) -> str:
    return read_option(name, SCHEDULES[name])
