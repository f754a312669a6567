"""The part of the user's environment that the services of a stack receive. Other variables are reported by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.settings import ErpSettings
from shelfsync.settings.settings import FILE, config_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CHANGEABLE = frozenset(
    {
        "AIRFLOW__CORE__PARALLELISM",
        "AIRFLOW__CORE__LOAD_EXAMPLES",
        "AIRFLOW__CORE__TEST_CONNECTION",
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL",
        "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED",
        "SHELFSYNC_WEBHOOK__HOST",
    }
)
"""Variables of the table of services that the user may override, because nothing else depends on them."""
FOLLOWED = frozenset(
    {"SHELFSYNC_HOME", "SHELFSYNC_DATABASE_URL", "SHELFSYNC_WEBHOOK__PORT", "SHELFSYNC_WEBHOOK__SECRET"}
)
"""Variables from which the stack takes its own value; that one may be written otherwise (an absolute path, the next free port)."""
CONFIG = "SHELFSYNC_CONFIG"
_OURS = ("AIRFLOW_", "SHELFSYNC_")
_OF_THE_SAMPLE = frozenset(
    {
        CONFIG,
        "SHELFSYNC_PLATFORM",
        "SHELFSYNC_ERP",
        "SHELFSYNC_PROMOTIONS",
        *(f"SHELFSYNC_PROMOTIONS__{name.upper()}" for name in ErpSettings.model_fields),
    }
)
_SECTIONS_OF_THE_SAMPLE = (
    "SHELFSYNC_PLATFORM__",
    "SHELFSYNC_ERP__",
    "SHELFSYNC_PROMOTIONS__COLUMNS__",
    "SHELFSYNC_PROMOTIONS__CONSTANTS__",
    "AIRFLOW_CONN_",
    "AIRFLOW__SECRETS__",
    "AIRFLOW__WORKERS__SECRETS_",
)


def split(environ: Mapping[str, str], *, sample: bool) -> tuple[dict[str, str], list[str]]:
    """What services inherit, and the names of what they do not.

    With the sample, nothing that could lead to a real platform or a real ERP is inherited.
    """
    values = dict(environ)
    unused = [name for name in values if name == "AIRFLOW_CONFIG" or (sample and _is_the_samples(name))]
    for name in unused:
        del values[name]
    if sample and CONFIG not in environ and config_file().is_file():
        unused.append(FILE)
    return values, unused


def merged(inherited: Mapping[str, str], service: Mapping[str, str]) -> dict[str, str]:
    """The environment of one service: the user's, then the table's, except where the user may change what the table sets."""
    changed = {name: inherited[name] for name in CHANGEABLE & service.keys() & inherited.keys()}
    return {**inherited, **service, **changed}


def overruled(inherited: Mapping[str, str], tables: Iterable[Mapping[str, str]]) -> list[str]:
    """The names of the user's variables to which a service is given another value."""
    found = {
        name
        for table in tables
        for name, value in table.items()
        if name.startswith(_OURS) and name not in FOLLOWED | CHANGEABLE and inherited.get(name, value) != value
    }
    return sorted(found)


def report(unused: Iterable[str]) -> str | None:
    """One line with the names alone; None if there is none."""
    names = ", ".join(sorted(unused))
    return f"not used here, because this command sets it itself: {names}" if names else None


def _is_the_samples(name: str) -> bool:
    upper = name.upper()
    return upper in _OF_THE_SAMPLE or upper.startswith(_SECTIONS_OF_THE_SAMPLE)
