"""Which databases the settings give."""

from __future__ import annotations

from shelfsync.databases import databases
from shelfsync.settings import Settings

NAMED, OTHER = "postgresql://u@named/ledger", "postgresql://u@other/limits"


def test_a_database_that_is_named_is_the_ledger_s_and_starts_none(tmp_path):
    with databases(Settings(home=tmp_path, database_url=NAMED)) as found:
        assert found == (NAMED, NAMED)
    with databases(Settings(home=tmp_path, database_url=NAMED, rate_limit={"database_url": OTHER})) as found:
        assert found == (NAMED, OTHER)
    assert list(tmp_path.iterdir()) == []


def test_without_a_name_one_is_started_in_the_state_folder(tmp_path):
    with databases(Settings(home=tmp_path)) as (ledger, limits):
        assert ledger == limits
        assert (tmp_path / "postgres").is_dir()
