"""What an operator may change about the DAGs themselves: section `[shelfsync]` of airflow.cfg, or `AIRFLOW__SHELFSYNC__NAME`.

They are read every time a DAG file is parsed, so nothing but Airflow's own configuration is asked. Everything that is not
about DAGs is a setting of shelfsync (`SHELFSYNC_...`), read inside the tasks.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, NamedTuple

from shelfsync.chosen_chain import chain_in_use

if TYPE_CHECKING:
    from airflow.sdk import Asset

SECTION = "shelfsync"
NEVER = frozenset({"", "none", "never"})


class Option(NamedTuple):
    """One option as Airflow describes it: `kind` is string, integer or float."""

    default: str
    kind: str
    description: str
    example: str | None = None


def _cron(default: str, runs: str, more: str = "", example: str | None = None) -> Option:
    return Option(default, "string", f"When {runs}: a cron expression in UTC, or none{more}.", example)


OPTIONS = {
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
    "retries": Option(
        "3", "integer", "How often a task is tried again; below 3 an API server that is away for a minute ends a run."
    ),
    "retry_delay_s": Option(
        "60", "float", "Seconds before a task is tried again, unless the platform names a longer wait."
    ),
    "owner_link": Option(
        "", "string", "Where the name of the owner leads: an https or mailto address.", "mailto:catalog@example.com"
    ),
}


def timetable(kind: str) -> Any:
    """The schedule of one DAG as a timetable whose next run is the instant at which it starts, whatever Airflow's `create_cron_data_intervals`."""
    from airflow.sdk import CronTriggerTimetable

    cron = schedule(kind)
    return None if cron is None else CronTriggerTimetable(cron, timezone="UTC")


def schedule(kind: str) -> str | None:
    """The schedule of one DAG, by its name: full, delta, export, recover, orders, history and so on."""
    text = _text(f"{kind}_schedule").strip()
    return None if text.lower() in NEVER else text


def schedule_or_asset(kind: str, changed: Asset) -> Any:
    """The schedule of one DAG that an event of an asset starts as well; the asset alone where there is no schedule."""
    from airflow.sdk import AssetOrTimeSchedule

    when = timetable(kind)
    return [changed] if when is None else AssetOrTimeSchedule(timetable=when, assets=[changed])


def watches() -> bool:
    """Whether changes of the ERP start a delta."""
    return _text("delta_watch").strip().lower() not in NEVER


def retries() -> int:
    return int(_text("retries"))


def retry_delay() -> dt.timedelta:
    return dt.timedelta(seconds=float(_text("retry_delay_s")))


def owner_links() -> dict[str, str]:
    """The owner's address as a DAG takes it."""
    link = _text("owner_link").strip()
    return {owner(): link} if link else {}


def owner() -> str:
    """Whom the list of DAGs names: the chain, or shelfsync."""
    return chain_in_use() or SECTION


def _text(name: str) -> str:
    """The option of the chain in use (`delta_schedule__north`), or the one of all chains."""
    from airflow.sdk.configuration import conf  # here, because Airflow reads OPTIONS while it makes this very object

    whole = conf.get(SECTION, name, fallback=OPTIONS[name].default)
    chain = chain_in_use()
    return str(whole if chain is None else conf.get(SECTION, f"{name}__{chain}", fallback=whole))
