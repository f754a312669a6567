"""What an operator may change about the DAGs themselves: section `[shelfsync]` of airflow.cfg, or `AIRFLOW__SHELFSYNC__NAME`.

They are read every time a DAG file is parsed, so nothing but Airflow's own configuration is asked. Everything that is not
about DAGs is a setting of shelfsync (`SHELFSYNC_...`), read inside the tasks.
"""

from __future__ import annotations

import datetime as dt

from shelfsync.chosen_chain import chain_in_use
from shelfsync_airflow.option import SECTION, Option, read_option
from shelfsync_airflow.schedules import SCHEDULES

OPTIONS = SCHEDULES | {
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


def retries() -> int:
    return int(_read("retries"))


def retry_delay() -> dt.timedelta:
    return dt.timedelta(seconds=float(_read("retry_delay_s")))


def owner_links() -> dict[str, str]:
    """The owner's address as a DAG takes it."""
    link = _read("owner_link").strip()
    return {owner(): link} if link else {}


def owner() -> str:
    """Whom the list of DAGs names: the chain, or shelfsync."""
    return chain_in_use() or SECTION


def _read(name: str) -> str:
    return read_option(name, OPTIONS[name])
