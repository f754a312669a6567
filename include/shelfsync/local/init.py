"""Preparations before the services start, done once and cheap to repeat: `python -m shelfsync.local.init`.

Both databases with their newest schema, and the password of Airflow's user. Run by `make up` and by the init container alike.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.file_access import keep_private
from shelfsync.local import airflow_home
from shelfsync.local.processes import resolved
from shelfsync.local.services import RECEIVER_DATABASE_URL
from shelfsync.secret_mask import mask_streams
from shelfsync.settings.storage_fault import as_its_setting

SERVER_TIMEOUT_S = 60.0


def run(*, database_url: str, airflow_url: str, home: Path, receiver_url: str | None = None) -> None:
    """Creates and migrates; waits up to a minute for a server that is still starting."""
    from shelfsync.migrations.upgrade import upgrade
    from shelfsync.store.engine import check, create_engine

    (home / "airflow").mkdir(parents=True, exist_ok=True)
    ensure_database(airflow_url)
    engine = create_engine(database_url)
    try:
        check(engine)
        upgrade(engine)
        _receiver_role(database_url, receiver_url or database_url)
    finally:
        engine.dispose()
    airflow_schema = _airflow_schema(airflow_url)
    migrated = home / "airflow" / "migrated"
    if airflow_schema is None or not migrated.is_file() or migrated.read_text("ascii") != _stamp(airflow_schema):
        done = subprocess.run(resolved(("airflow", "db", "migrate")), check=False, stdin=subprocess.DEVNULL)  # noqa: S603
        if done.returncode:
            raise ShelfsyncError(f"`airflow db migrate` ended with exit code {done.returncode}; its output is above.")
        migrated.write_text(_stamp(_airflow_schema(airflow_url) or ""), "ascii")
    airflow_home.admin_password(home / "airflow")


def _receiver_role(database_url: str, receiver_url: str) -> None:
    """A role for the receiver, if it has its own."""
    import psycopg

    from shelfsync.receiver.database_role import grant_rights
    from shelfsync.store.engine import database_url as parsed

    ours, theirs = parsed(database_url), parsed(receiver_url)
    if theirs.username is None or theirs.username == ours.username:
        return
    address = ours.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(address) as connection:
        grant_rights(connection, theirs.username, theirs.password)


def ensure_database(url: str, *, timeout_s: float = SERVER_TIMEOUT_S) -> None:
    """Creates the database that `url` names, if it does not exist."""
    import psycopg
    from psycopg import sql

    from shelfsync.store.engine import database_url

    address = database_url(url)
    plain = address.set(drivername="postgresql")
    server = plain.set(database="postgres").render_as_string(hide_password=False)
    deadline_s = time.monotonic() + timeout_s
    while True:
        try:
            psycopg.connect(plain.render_as_string(hide_password=False), connect_timeout=5).close()
            return
        except psycopg.OperationalError as error:
            if "does not exist" in str(error) and "database" in str(error):
                break
            if time.monotonic() > deadline_s or "authentication" in str(error):
                given = str(error).strip().splitlines()[-1]
                raise ConfigurationError(
                    "SHELFSYNC_DATABASE_URL",
                    f"no connection to {address.host}:{address.port}: {given}",
                    "Start the server, or correct it.",
                ) from None
            time.sleep(0.5)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(str(address.database))))


def _airflow_schema(url: str) -> str | None:
    """The revision of Airflow's schema, None when there is none yet."""
    import psycopg

    from shelfsync.store.engine import database_url

    with psycopg.connect(
        database_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    ) as connection:
        known = connection.execute("SELECT to_regclass('alembic_version') IS NOT NULL").fetchone()
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone() if known and known[0] else None
    return str(row[0]) if row else None


def _stamp(schema: str) -> str:
    return f"{version('apache-airflow')} {schema}\n"


def main() -> int:
    """Reads its addresses from the environment, as services.py writes them."""
    keep_private()
    mask_streams()
    try:
        with as_its_setting():
            run(
                database_url=os.environ["SHELFSYNC_DATABASE_URL"],
                airflow_url=os.environ["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"],
                home=Path(os.environ["SHELFSYNC_HOME"]),
                receiver_url=os.environ.get(RECEIVER_DATABASE_URL),
            )
    except KeyError as missing:
        print(f"init: {missing.args[0]} is not set. Start it by `make up` or docker compose.", file=sys.stderr)  # noqa: T201
        return 3
    except ShelfsyncError as error:
        print(f"init: {error}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
