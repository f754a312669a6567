"""Before the services start: databases are there, and a server that is not is one line."""

from __future__ import annotations

import os
import subprocess
import sys

import psycopg
import pytest

from shelfsync.errors import ConfigurationError
from shelfsync.local.init import ensure_database


def test_a_database_that_is_missing_is_created_and_one_that_is_there_is_left_alone(postgres) -> None:
    url = postgres.dsn("made_by_init").replace("postgresql://", "postgresql+psycopg2://")
    try:
        ensure_database(url)
        with psycopg.connect(postgres.dsn("made_by_init")) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
        ensure_database(url)
        with psycopg.connect(postgres.dsn("made_by_init")) as connection:
            assert connection.execute("SELECT one FROM kept").fetchone() == (1,)
    finally:
        postgres.drop_database("made_by_init")


def test_wrong_credentials_are_reported_at_once_and_without_the_password(postgres) -> None:
    port = postgres.status().port
    with pytest.raises(ConfigurationError, match="password authentication failed") as caught:
        ensure_database(f"postgresql://shelfsync:canary-password-2@127.0.0.1:{port}/airflow")
    assert "\n" not in str(caught.value)
    assert "canary-password-2" not in str(caught.value)


def test_a_server_that_never_answers_is_reported_after_the_wait() -> None:
    with pytest.raises(ConfigurationError, match=r"no connection to 127\.0\.0\.1:1: "):
        ensure_database("postgresql://shelfsync:x@127.0.0.1:1/airflow", timeout_s=0.1)


def _init(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "shelfsync.local.init"],
        env={"PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_started_by_hand_without_its_addresses_it_names_what_is_missing() -> None:
    done = _init()
    assert done.returncode == 3
    assert done.stderr == "init: SHELFSYNC_DATABASE_URL is not set. Start it by `make up` or docker compose.\n"


@pytest.mark.slow
@pytest.mark.parametrize("inside", ["", "x"])
def test_a_state_folder_that_cannot_be_written_is_an_error_of_its_setting(tmp_path, inside) -> None:
    (tmp_path / "file").write_text("")
    none = "postgresql://shelfsync:x@127.0.0.1:1/none"
    home = str(tmp_path / "file" / inside)
    done = _init(SHELFSYNC_DATABASE_URL=none, AIRFLOW__DATABASE__SQL_ALCHEMY_CONN=none, SHELFSYNC_HOME=home)
    assert done.returncode == 3
    assert done.stderr.startswith(f"init: SHELFSYNC_HOME: {tmp_path / 'file'}")
    assert "cannot be written: " in done.stderr
    assert len(done.stderr.splitlines()) == 1
