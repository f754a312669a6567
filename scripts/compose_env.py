"""Writes .env with the passwords and keys that docker-compose.yaml asks for, and the files for further settings.

All are readable by their owner alone. What is there is never overwritten; an older .env gets the lines that it lacks.
"""

from __future__ import annotations

import base64
import os
import secrets
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
FURTHER = {
    "shelfsync.env": "# SHELFSYNC_PLATFORM__BASE_URL=https://...   one setting a line, without quotes; `shelfsync config show` lists all\n",
    "receiver.env": "# Settings of the receiver alone: SHELFSYNC_WEBHOOK__..., SHELFSYNC_ORDERS__PICKING_SECRET\n",
}


def values() -> dict[str, str]:
    """New ones at every call."""
    return {
        "POSTGRES_PASSWORD": secrets.token_urlsafe(24),
        "RECEIVER_POSTGRES_PASSWORD": secrets.token_urlsafe(24),
        "REDIS_PASSWORD": secrets.token_urlsafe(24),
        "AIRFLOW_FERNET_KEY": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        "AIRFLOW_JWT_SECRET": secrets.token_urlsafe(64),
        "AIRFLOW_SESSION_KEY": secrets.token_urlsafe(32),
        "SHELFSYNC_WEBHOOK_SECRET": secrets.token_urlsafe(32),
    }


def main() -> int:
    keys = values()
    print(_written(PROJECT / ".env", _lines(keys)))
    with (PROJECT / ".env").open("r+", encoding="utf-8") as file:
        known = {line.partition("=")[0].strip() for line in file}
        if lacks := {name: value for name, value in keys.items() if name not in known}:
            file.write("\n" + _lines(lacks))
            print(f"added to .env: {', '.join(lacks)}")
    for name, text in FURTHER.items():
        print(_written(PROJECT / name, text))
    (PROJECT / "config").mkdir(exist_ok=True)
    return 0


def _lines(keys: dict[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in keys.items())


def _written(file: Path, text: str) -> str:
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return f"{file.name} is there already and was left as it is"
    with os.fdopen(descriptor, "w", encoding="ascii") as opened:
        opened.write(text)
    return f"wrote {file.name}"


if __name__ == "__main__":
    sys.exit(main())
