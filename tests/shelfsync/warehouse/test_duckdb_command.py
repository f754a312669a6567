"""`shelfsync duckdb` as a person starts it: in a process that has imported nothing before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import psycopg
import pytest

from documents import data, error
from shelfsync.warehouse.views import VIEWS

INCLUDE = Path(__file__).parents[3] / "include"


@pytest.fixture
def write(tmp_path, database_url):
    """Runs `shelfsync duckdb` for a file of this name; returns (file, how it ended)."""

    def call(name: str) -> tuple[Path, subprocess.CompletedProcess[str]]:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": str(INCLUDE),
            "SHELFSYNC_HOME": str(tmp_path / "home"),
            "SHELFSYNC_DATABASE_URL": database_url,
        }
        command = [sys.executable, "-m", "shelfsync", "duckdb", name, "--json"]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        return tmp_path / name, done

    return call


TABLES = """
SELECT 'warehouse.' || relname FROM pg_class
WHERE relnamespace = 'warehouse'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
"""


@pytest.mark.slow
def test_a_process_of_its_own_writes_every_table_and_view(write, database_url):
    file, done = write("today.duckdb")
    assert done.returncode == 0, done.stderr
    with psycopg.connect(database_url) as connection:
        tables = {name for (name,) in connection.execute(TABLES).fetchall()}
    written = {name for name in data(done.stdout) if name.startswith("warehouse.")}
    assert tables - written == {"warehouse.order_customer"}, "personal data alone stay in the database"
    assert written < tables
    with duckdb.connect(str(file), read_only=True) as opened:
        for view in VIEWS:
            assert opened.execute(f"SELECT * FROM warehouse.{view.name}").fetchall() is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["warehouse.duckdb", "Warehouse.2026.duckdb", "rate_limit"])
def test_a_file_whose_name_would_hide_its_tables_is_rejected_in_one_line(write, name):
    file, done = write(name)
    assert done.returncode == 3
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "Choose another name" in done.stderr
    assert [left.name for left in file.parent.iterdir() if name in left.name] == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "words"), [("nowhere/x.duckdb", "there is no folder"), (".", "is a folder")])
def test_a_file_that_cannot_be_written_is_reported_in_one_line(write, name, words):
    _, done = write(name)
    assert (done.returncode, error(done.stdout)["code"]) == (3, "configuration")
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
