"""A chain has a database and a folder of the lake of its own; the requests of all are counted in the shared database."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from shelfsync.chosen_chain import chosen
from shelfsync.errors import ConfigurationError
from shelfsync.settings import read_settings
from shelfsync.settings.chain_database import database_of_chain

SHARED = "postgresql://ours:secret-of-all@db.example/shelfsync?sslmode=require"
OF_ALL = f'database_url = "{SHARED}"\nlake_url = "s3://bucket/lake"\n'


@pytest.fixture
def north(monkeypatch, tmp_path):
    """The settings of the chain `north`, by a settings file: its database, its lake and the database that counts its requests."""
    file = tmp_path / "shelfsync.toml"
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(file))

    def read(text):
        file.write_text(text, "utf-8")
        with chosen("north"):
            found = read_settings()
        return found.database_url.get_secret_value(), found.lake, found.rate_limit.database_url.get_secret_value()

    return read


def test_a_chain_has_a_database_and_a_folder_of_the_lake_and_all_share_the_count(north):
    own = SHARED.replace("/shelfsync", "/shelfsync_north")
    assert north(OF_ALL + "[chains.north]\n[chains.south]\n") == (own, "s3://bucket/lake/north", SHARED)
    assert read_settings().lake == "s3://bucket/lake"


def test_a_chain_that_names_a_server_of_its_own_counts_in_the_shared_database(north):
    own = "postgresql://ours@db.example/northern"
    file = f'{OF_ALL}[chains.north]\ndatabase_url = "{own}"\nlake_url = "s3://other/lake"\n'
    assert north(file) == (own, "s3://other/lake", SHARED)


def test_the_chain_that_was_alone_keeps_its_place(north):
    assert north(OF_ALL + "[chains.north]\nwas_alone = true\n") == (SHARED, "s3://bucket/lake", SHARED)


def test_a_chain_that_would_count_its_requests_alone_is_an_error(north):
    with pytest.raises(ConfigurationError, match="none is named in which all chains count"):
        north('[chains.north]\ndatabase_url = "postgresql://db.example/north"\n[chains.south]\n')


@pytest.mark.parametrize(
    ("database", "says"),
    [("postgresql://db.example", "names no database"), (f"postgresql://db.example/{'b' * 58}", "longer than 63 bytes")],
)
def test_a_database_that_postgresql_would_cut_is_an_error(database, says):
    assert len(database_of_chain(SecretStr(f"postgresql://h/{'b' * 57}"), "north").get_secret_value()) == 15 + 63
    with pytest.raises(ConfigurationError, match=says):
        database_of_chain(SecretStr(database), "north")
