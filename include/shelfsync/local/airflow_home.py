"""Airflow's keys and its one user, for a machine and for containers alike."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.local.state_folder import kept_secret

if TYPE_CHECKING:
    from pathlib import Path

    from shelfsync.local.state_folder import Place

USER = "admin"
PASSWORDS_FILE = "simple_auth_manager_passwords.json.generated"


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
