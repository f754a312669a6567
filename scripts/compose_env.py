# ruff: noqa: INP001  a script, not a package
"""Writes .env with the passwords and keys that docker-compose.yaml asks for, readable by its owner alone. Never overwrites one."""

from __future__ import annotations

import base64
import os
import secrets
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / ".env"


def values() -> dict[str, str]:
    """New ones at every call."""
    return {
        "POSTGRES_PASSWORD": secrets.token_urlsafe(24),
        "RECEIVER_POSTGRES_PASSWORD": secrets.token_urlsafe(24),
        "AIRFLOW_FERNET_KEY": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        "AIRFLOW_JWT_SECRET": secrets.token_urlsafe(64),
        "AIRFLOW_SESSION_KEY": secrets.token_urlsafe(32),
        "SHELFSYNC_WEBHOOK_SECRET": secrets.token_urlsafe(32),
    }


def main() -> int:
    try:
        descriptor = os.open(TARGET, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        print(f"{TARGET.name} is there already and was left as it is")  # noqa: T201
        return 0
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.writelines(f"{name}={value}\n" for name, value in values().items())
    print(f"wrote {TARGET.name}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
