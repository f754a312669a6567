from __future__ import annotations

import json

import psycopg
import pytest
from psycopg import sql

from commands_here import commands_here
from shelfsync.exit_codes import ExitCode


@pytest.fixture
def here(database_url, tmp_path, monkeypatch, capsys):
    environment = {"SHELFSYNC_HOME": str(tmp_path / "home"), "SHELFSYNC_DATABASE_URL": database_url}
    with commands_here(environment, tmp_path, monkeypatch, capsys) as call:
        yield call


def test_a_file_is_saved_shown_and_loaded_once(here, tmp_path):
    assert here("pause", "--all", "--reason", "upgrade", "--user", "ada")[0] == 0
    code, shown, complaint = here("state", "save", "now.state")
    assert code == 0, complaint
    assert "1  ledger.switch" in shown
    code, _, complaint = here("state", "load", "now.state")
    assert code == 4
    assert "has rows already (ledger.switch)" in complaint
    assert "createdb" in complaint
    code, shown, _ = here("state", "save", "now.state", "--json")
    assert code == 0, "a file of its own kind is replaced"
    assert json.loads(shown)["data"]["tables"]["ledger.switch"] == 1
    (tmp_path / "other").write_text("{}")
    code, _, complaint = here("state", "load", "other")
    assert code == 4
    assert "other is no whole saved state" in complaint
    code, _, complaint = here("state", "load", "none")
    assert code == 4
    assert "none: No such file or directory" in complaint


MAKES = "the database has no tables of shelfsync yet: `state load` without --dry-run makes them"


@pytest.fixture
def of_north(empty_database_url, administration, monkeypatch):
    """The chain north, and whether its database is there."""
    monkeypatch.setenv("SHELFSYNC_CHAINS__NORTH__CURRENCY", "NOK")
    monkeypatch.setenv("SHELFSYNC_DATABASE_URL", empty_database_url)
    monkeypatch.setenv("SHELFSYNC_CHAIN", "north")
    name = f"{psycopg.conninfo.conninfo_to_dict(empty_database_url)['dbname']}_north"
    known = "SELECT 1 FROM pg_database WHERE datname = %s"
    yield lambda: bool(administration.execute(known, [name]).fetchall())
    administration.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def test_a_dry_run_creates_no_database_in_a_new_state_folder(here, tmp_path, monkeypatch):
    assert here("state", "save", "now.state")[0] == 0
    monkeypatch.delenv("SHELFSYNC_DATABASE_URL")
    monkeypatch.setenv("SHELFSYNC_HOME", str(tmp_path / "new"))
    code, shown, complaint = here("state", "load", "now.state", "--dry-run")
    assert code == 0, complaint
    assert "would be loaded" in shown
    assert MAKES in shown
    assert not (tmp_path / "new").exists()


def test_a_dry_run_makes_no_tables_in_an_empty_database(here, monkeypatch, empty_database_url):
    assert here("state", "save", "now.state")[0] == 0
    monkeypatch.setenv("SHELFSYNC_DATABASE_URL", empty_database_url)
    code, shown, complaint = here("state", "load", "now.state", "--dry-run")
    assert code == 0, complaint
    assert MAKES in shown
    with psycopg.connect(empty_database_url) as connection:
        made = connection.execute("SELECT to_regclass('shelfsync_revision'), to_regnamespace('ledger')").fetchone()
    assert made == (None, None)


def test_a_dry_run_reports_what_a_load_would_and_migrates_nothing(here, engine):
    assert here("pause", "--all", "--reason", "upgrade", "--user", "ada")[0] == 0
    assert here("state", "save", "now.state")[0] == 0
    code, _, complaint = here("state", "load", "now.state", "--dry-run")
    assert code == ExitCode.DATA
    assert "has rows already (ledger.switch)" in complaint
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE shelfsync_revision SET version_num = 'older'")
    code, _, complaint = here("state", "load", "now.state", "--dry-run")
    assert code == ExitCode.CONFIGURATION
    assert "the tables in this database are not those of this version" in complaint


def test_a_dry_run_creates_no_database_of_a_chain(here, of_north, empty_database_url, monkeypatch):
    monkeypatch.setenv("SHELFSYNC_CHAINS__NORTH__WAS_ALONE", "true")
    assert here("check")[0] == ExitCode.CONFIGURATION, "the database is there, and no ERP"
    assert here("state", "save", "now.state")[0] == 0
    monkeypatch.delenv("SHELFSYNC_CHAINS__NORTH__WAS_ALONE")
    code, shown, complaint = here("state", "load", "now.state", "--dry-run")
    assert code == 0, complaint
    assert MAKES in shown
    assert not of_north()
    assert here("state", "load", "now.state")[0] == 0
    assert of_north()
