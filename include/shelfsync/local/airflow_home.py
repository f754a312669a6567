"""Airflow's settings, its keys and its one user, for a machine and for containers alike.

All settings are environment variables; the airflow.cfg that Airflow writes into its home is left as it comes.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.local.place import kept_secret

if TYPE_CHECKING:
    from pathlib import Path

    from shelfsync.local.place import Place

USER = "admin"
PASSWORDS_FILE = "simple_auth_manager_passwords.json.generated"
TASKS_AT_ONCE = 6
"""A task is a process of some 150 MB; more at once than cores only makes all of them late."""
TASK_SILENT_S = 90
"""A task that reports nothing for so long is dead: Airflow repeats it. Airflow's own value, 300 s, is five minutes without a price change
after each kill of the scheduler; a living task reports every five seconds."""
IDLE_SLEEP_S = "0.3"
"""How long an idle scheduler sleeps before it looks for a task that has ended. A sync is eight tasks in sequence."""


@dataclass(frozen=True)
class AirflowKeys:
    """What every process of one Airflow has to share. Never shown."""

    fernet: str
    jwt: str
    session: str

    def __repr__(self) -> str:
        return "AirflowKeys(...)"


def keys(place: Place) -> AirflowKeys:
    """The keys of this state folder, made once."""
    from cryptography.fernet import Fernet

    return AirflowKeys(
        fernet=kept_secret(place.secrets / "airflow-fernet", lambda: Fernet.generate_key().decode()),
        jwt=kept_secret(place.secrets / "airflow-jwt", lambda: secrets.token_urlsafe(64)),  # 86 bytes; 64 are the least
        session=kept_secret(place.secrets / "airflow-session", lambda: secrets.token_urlsafe(32)),
    )


def admin_password(airflow_home: Path) -> str:
    """The password of the user admin, made once, in the file that Airflow reads."""
    file = airflow_home / PASSWORDS_FILE
    kept_secret(file, lambda: json.dumps({USER: secrets.token_urlsafe(12)}) + "\n")
    return str(json.loads(file.read_text("utf-8"))[USER])


def environment(
    *,
    airflow_home: str,
    project: str,
    database_url: str,
    keys: AirflowKeys,
    api_host: str,
    api_port: int,
    api_url: str,
    public_url: str,
    test_connection: bool,
) -> dict[str, str]:
    """The environment of every Airflow process. `api_url` is where tasks find the API server, `public_url` where people do.

    `test_connection`: a user who may edit a connection can make the API server call any address; off but on one's own machine.
    """
    return {
        "AIRFLOW_HOME": airflow_home,
        "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
        "AIRFLOW__CORE__PARALLELISM": str(TASKS_AT_ONCE),
        "AIRFLOW__CORE__DAGS_FOLDER": f"{project}/dags",
        "AIRFLOW__CORE__PLUGINS_FOLDER": f"{project}/plugins",
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__FERNET_KEY": keys.fernet,
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
        "AIRFLOW__CORE__TEST_CONNECTION": "Enabled" if test_connection else "Disabled",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{api_url}/execution/",
        "AIRFLOW__API__HOST": api_host,
        "AIRFLOW__API__PORT": str(api_port),
        "AIRFLOW__API__BASE_URL": public_url,
        "AIRFLOW__API__SECRET_KEY": keys.session,
        "AIRFLOW__API_AUTH__JWT_SECRET": keys.jwt,
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": database_url,
        "AIRFLOW__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": IDLE_SLEEP_S,
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": str(TASK_SILENT_S),
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "15",
        "AIRFLOW__DAG_PROCESSOR__PARSING_PROCESSES": "1",
        "AIRFLOW__LOGGING__FILE_TASK_HANDLER_NEW_FOLDER_PERMISSIONS": "0o750",
        "AIRFLOW__LOGGING__FILE_TASK_HANDLER_NEW_FILE_PERMISSIONS": "0o640",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    }
