"""`shelfsync chains list`: each chain by itself."""

from __future__ import annotations

import json

import psycopg
import pytest
from psycopg import sql

from shelfsync.cli.app import run
from shelfsync.exit_codes import ExitCode


@pytest.fixture
def chains(monkeypatch, tmp_path, empty_database_url):
    monkeypatch.setenv("SHELFSYNC_HOME", str(tmp_path))
    monkeypatch.setenv("SHELFSYNC_DATABASE_URL", empty_database_url)
    monkeypatch.setenv("SHELFSYNC_CHAINS__NORTH__WAS_ALONE", "true")


@pytest.mark.slow
def test_a_chain_that_cannot_be_read_stops_no_other(chains, monkeypatch, capsys):
    away = "postgresql://u:secret-of-south@127.0.0.1:1/none"
    monkeypatch.setenv("SHELFSYNC_CHAINS__SOUTH__DATABASE_URL", away)
    assert run(["chains", "list", "--json"]) == ExitCode.PARTLY
    out = capsys.readouterr().out
    north, south = json.loads(out)["data"]["chains"]
    assert (north["chain"], north["readable"]) == ("north", True)
    assert north["sentence"] == "No store is known yet: the first full sync reads them."
    assert (south["chain"], south["readable"]) == ("south", False)
    assert "no connection to 127.0.0.1:1/none" in south["sentence"]
    assert "secret-of-south" not in out


@pytest.fixture
def database_of_south(chains, empty_database_url, administration, monkeypatch):
    """Its name, `was it created`, of a chain whose section is new."""
    monkeypatch.setenv("SHELFSYNC_CHAINS__SOUTH__CURRENCY", "NOK")
    name = f"{psycopg.conninfo.conninfo_to_dict(empty_database_url)['dbname']}_south"
    known = "SELECT 1 FROM pg_database WHERE datname = %s"
    yield lambda: bool(administration.execute(known, [name]).fetchall())
    administration.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.mark.slow
def test_a_list_creates_no_database_and_names_the_command_that_does(database_of_south, capsys):
    assert run(["chains", "list", "--json"]) == ExitCode.PARTLY
    south = json.loads(capsys.readouterr().out)["data"]["chains"][1]
    assert (south["chain"], south["readable"]) == ("south", False)
    assert "run `shelfsync --chain south check`, which creates it" in south["sentence"]
    assert not database_of_south()


@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        ["alerts", "watch"],
        ["holds", "list"],
        ["recover"],
        ["pause", "--all", "--reason", "x"],
        ["plan", "--full"],
        ["sync"],
        ["sync", "--watch"],
    ],
)
def test_a_command_that_begins_no_chain_creates_no_database(database_of_south, words, capsys):
    assert run([*words, "--chain", "south"]) == ExitCode.CONFIGURATION
    assert "run `shelfsync --chain south check`, which creates it" in capsys.readouterr().err
    assert not database_of_south()


@pytest.mark.slow
def test_the_command_by_which_a_person_begins_creates_it(database_of_south, capsys):
    """It fails only afterwards: the chain has no platform yet."""
    assert run(["check", "--chain", "south"]) == ExitCode.CONFIGURATION
    assert "there is no database" not in capsys.readouterr().err
    assert database_of_south()


def test_a_name_that_is_no_chain_is_listed_with_its_error(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SHELFSYNC_HOME", str(tmp_path))
    monkeypatch.setenv("SHELFSYNC_CHAINS__NORTH-SEA__CURRENCY", "NOK")
    assert run(["chains", "list"]) == ExitCode.PARTLY
    assert (
        "north-sea: SHELFSYNC_CHAINS__NORTH-SEA__CURRENCY: 'north-sea' cannot name a chain" in capsys.readouterr().out
    )


def test_an_installation_without_chains_has_one(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SHELFSYNC_HOME", str(tmp_path))
    assert run(["chains", "list"]) == 0
    assert capsys.readouterr().out == "one chain, without a name\n"
