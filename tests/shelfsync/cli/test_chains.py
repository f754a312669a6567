"""`shelfsync chains list`: each chain by itself."""

from __future__ import annotations

import json

import pytest

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
