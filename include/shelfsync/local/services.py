"""The one table of services: service -> command and environment, on a machine by `make up` and in containers by docker-compose.yaml.

`split` and `merged` decide which part of the user's environment a service receives. Other variables are reported by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shelfsync.local import airflow_home
from shelfsync.local.ports import LOOPBACK
from shelfsync.settings import SourceSettings
from shelfsync.settings_file import FILE, config_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shelfsync.local.airflow_home import AirflowKeys

API_PORT = 8080
RECEIVER_PORT = 8480
SANDBOX_PORT = 8470
STORAGE_PORT = 8471
"""Of the sandbox's presigned links, where the sandbox is on another host than its callers."""
INIT = "init"
RECEIVER_DATABASE_URL = "RECEIVER_DATABASE_URL"
"""Variable of init: the receiver's database URL; its user becomes a role with no other rights."""
SANDBOX = "sandbox"
SANDBOX_PROGRAM = "partner-sandbox"
STORE_HUB, CUSTOMERS = "store-hub", "customers"
"""Simulated services that run only beside the sample: the system that stores pick with, and customers."""
RECEIVED_WITH = (
    "SHELFSYNC_CONFIG",
    "SHELFSYNC_LOG_FORMAT",
    "SHELFSYNC_METRICS__",
    "SHELFSYNC_ORDERS__PICKING_SECRET",
    "SHELFSYNC_WEBHOOK__",
)
"""Beginnings of the names of all settings that the receiver reads: it receives no other setting, so no other secret. A file is on one machine only."""
STAYING = ("api-server", "scheduler", "dag-processor", "triggerer", "receiver")
API_SERVER = "api-server"
_PARTS = {
    "metadatabase": API_SERVER,
    "scheduler": "scheduler",
    "triggerer": "triggerer",
    "dag_processor": "dag-processor",
}
TIMEOUT_S = 5.0
TASKS_AT_ONCE = 6
"""A task is a process of some 150 MB; more at once than cores only makes all of them late."""
TASK_SILENT_S = 90
"""A task that reports nothing for so long is dead: Airflow repeats it. Airflow's own value, 300 s, is five minutes without a price change
after each kill of the scheduler; a living task reports every five seconds."""
IDLE_SLEEP_S = "0.3"
"""How long an idle scheduler sleeps before it looks for a task that has ended. A sync is eight tasks in sequence."""
CHANGEABLE = frozenset(
    {
        "AIRFLOW__API__BASE_URL",
        "AIRFLOW__CORE__PARALLELISM",
        "AIRFLOW__CORE__LOAD_EXAMPLES",
        "AIRFLOW__CORE__TEST_CONNECTION",
        "AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL",
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL",
        "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES",
        "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME",
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
        "SHELFSYNC_CHAIN",
        "SHELFSYNC_DATABASE_URL",
        "SHELFSYNC_LAKE_URL",
        "SHELFSYNC_PLATFORM",
        "SHELFSYNC_ERP",
        "SHELFSYNC_ORDERS",
        "SHELFSYNC_PROMOTIONS",
        *(f"SHELFSYNC_PROMOTIONS__{name.upper()}" for name in SourceSettings.model_fields),
    }
)
_SECTIONS_OF_THE_SAMPLE = (
    "SHELFSYNC_CHAINS__",
    "SHELFSYNC_PLATFORM__",
    "SHELFSYNC_ERP__",
    "SHELFSYNC_ORDERS__HAND_OVER",
    "SHELFSYNC_ORDERS__PICKING_",
    "SHELFSYNC_PROMOTIONS__COLUMNS__",
    "SHELFSYNC_PROMOTIONS__CONSTANTS__",
    "AIRFLOW_CONN_",
    "AIRFLOW__SECRETS__",
    "AIRFLOW__WORKERS__SECRETS_",
)


@dataclass(frozen=True)
class Service:
    """One program. `health` is an address that answers 200 if the program works; None if it has no such address."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(repr=False)
    health: str | None = None


@dataclass(frozen=True)
class Addresses:
    """The values that differ between places to run. URLs without a slash at the end."""

    home: str
    project: str
    database_url: str = field(repr=False)
    """The receiver uses it too, if it has no separate role (`receiver_database_url`)."""
    airflow_database_url: str = field(repr=False)
    listen: str = LOOPBACK
    api_host: str = LOOPBACK
    api_port: int = API_PORT
    public_url: str = f"http://{LOOPBACK}:{API_PORT}"
    receiver_host: str = LOOPBACK
    receiver_port: int = RECEIVER_PORT
    sandbox_host: str = LOOPBACK
    sandbox_port: int = SANDBOX_PORT
    receiver_database_url: str | None = field(default=None, repr=False)

    @property
    def api_url(self) -> str:
        return f"http://{self.api_host}:{self.api_port}"

    @property
    def receiver_url(self) -> str:
        return f"http://{self.receiver_host}:{self.receiver_port}"

    @property
    def sandbox_url(self) -> str:
        return f"http://{self.sandbox_host}:{self.sandbox_port}"


def services(
    addresses: Addresses, *, keys: AirflowKeys, webhook_secret: str, more: dict[str, str]
) -> dict[str, Service]:
    """The table. `more` are shelfsync's own settings (`SHELFSYNC_...`) besides those that follow from the addresses."""
    ours = {
        "PYTHONPATH": f"{addresses.project}/include:{addresses.project}/plugins",
        "SHELFSYNC_HOME": addresses.home,
        "SHELFSYNC_DATABASE_URL": addresses.database_url,
        "SHELFSYNC_WEBHOOK__SECRET": webhook_secret,
        "SHELFSYNC_WEBHOOK__HOST": addresses.listen,
        "SHELFSYNC_WEBHOOK__PORT": str(addresses.receiver_port),
        **more,
    }
    both = _airflow(addresses, keys) | ours
    receiver_url = addresses.receiver_database_url or addresses.database_url
    receiving = {name: value for name, value in ours.items() if name.startswith(("PYTHONPATH", *RECEIVED_WITH))}
    receiving["SHELFSYNC_DATABASE_URL"] = receiver_url
    table = [
        Service(INIT, ("python", "-m", "shelfsync.local.init"), both | {RECEIVER_DATABASE_URL: receiver_url}),
        Service(
            "api-server",
            ("airflow", "api-server", "--proxy-headers"),
            both,
            f"{addresses.api_url}/api/v2/monitor/health",
        ),
        Service("scheduler", ("airflow", "scheduler", "--skip-serve-logs"), both),
        Service("dag-processor", ("airflow", "dag-processor"), both),
        Service("triggerer", ("airflow", "triggerer", "--skip-serve-logs"), both),
        Service("receiver", ("python", "-m", "shelfsync.receiver"), receiving, f"{addresses.receiver_url}/health"),
        Service(SANDBOX, _sandbox(addresses), {}, f"{addresses.sandbox_url}/"),
    ]
    return {service.name: service for service in table}


def _airflow(addresses: Addresses, keys: AirflowKeys) -> dict[str, str]:
    """The environment of every Airflow process: all of its settings. The airflow.cfg that Airflow writes into its home is left as it comes.

    A user who may edit a connection can make the API server call any address by its test: it is off but on one's own machine.
    """
    return {
        "AIRFLOW_HOME": f"{addresses.home}/airflow",
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__PARALLELISM": str(TASKS_AT_ONCE),
        "AIRFLOW__CORE__DAGS_FOLDER": f"{addresses.project}/dags",
        "AIRFLOW__CORE__PLUGINS_FOLDER": f"{addresses.project}/plugins",
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__FERNET_KEY": keys.fernet,
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{airflow_home.USER}:admin",
        "AIRFLOW__CORE__TEST_CONNECTION": "Enabled" if addresses.listen == LOOPBACK else "Disabled",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{addresses.api_url}/execution/",
        "AIRFLOW__API__HOST": addresses.listen,
        "AIRFLOW__API__PORT": str(addresses.api_port),
        "AIRFLOW__API__BASE_URL": addresses.public_url,
        "AIRFLOW__API__SECRET_KEY": keys.session,
        "AIRFLOW__API_AUTH__JWT_SECRET": keys.jwt,
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": addresses.airflow_database_url,
        "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": IDLE_SLEEP_S,
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": str(TASK_SILENT_S),
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "15",
        "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES": "1",
        "AIRFLOW__LOGGING__FILE_TASK_HANDLER_NEW_FOLDER_PERMISSIONS": "0o750",
        "AIRFLOW__LOGGING__FILE_TASK_HANDLER_NEW_FILE_PERMISSIONS": "0o640",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }


def stand_in(name: str, table: dict[str, Service]) -> Service:
    """A simulated service beside the sample; it has the settings of shelfsync."""
    module = f"shelfsync.local.{name.replace('-', '_')}"
    ours = {key: value for key, value in table["scheduler"].environment.items() if not key.startswith("AIRFLOW")}
    return Service(name, ("python", "-m", module), ours)


def _sandbox(addresses: Addresses) -> tuple[str, ...]:
    """Its control plane answers only this machine by default. In its container it is exposed, because every caller is on another host."""
    alone = addresses.listen != LOOPBACK
    data = "/var/lib/partner-sandbox" if alone else f"{addresses.home}/sandbox"
    where = ("--host", addresses.listen, "--port", str(addresses.sandbox_port), "--data", data, "--quiet")
    if not alone:
        return (SANDBOX_PROGRAM, *where, "--job-seconds", "2")
    storage = f"http://{addresses.sandbox_host}:{STORAGE_PORT}"
    links = ("--public-url", addresses.sandbox_url, "--storage-port", str(STORAGE_PORT), "--storage-url", storage)
    return (SANDBOX_PROGRAM, *where, "--job-seconds", "2", "--expose-control", "--control-host", SANDBOX, *links)


def answers(url: str) -> bool:
    """Whether the service reports that it is healthy."""
    from partner_api.http_library import httpx

    try:
        return httpx.get(url, timeout=TIMEOUT_S, trust_env=False).status_code < 500
    except httpx.HTTPError:
        return False


def unhealthy_parts(url: str) -> list[str]:
    """Airflow's components that report themselves unhealthy, as services; the API server if it or the database is unavailable."""
    from partner_api.http_library import httpx

    try:
        answer = httpx.get(url, timeout=TIMEOUT_S, trust_env=False).json()
    except (httpx.HTTPError, ValueError):
        return [API_SERVER]
    return [service for part, service in _PARTS.items() if answer.get(part, {}).get("status") != "healthy"]


def split(environ: Mapping[str, str], *, sample: bool) -> tuple[dict[str, str], list[str]]:
    """What services inherit, and the names of what they do not.

    With the sample, nothing that could lead to a real platform, ERP, store, ledger or lake is inherited.
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
