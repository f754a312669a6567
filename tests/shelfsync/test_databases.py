"""Which databases the settings give."""

from __future__ import annotations

import pytest

from shelfsync.databases import databases, is_there
from shelfsync.errors import ConfigurationError
from shelfsync.settings import Settings

NAMED, OTHER = "postgresql://u@named/ledger", "postgresql://u@other/limits"


def test_a_database_that_is_named_is_the_ledger_s_and_starts_none(tmp_path):
    with databases(Settings(home=tmp_path, database_url=NAMED)) as found:
        assert found == (NAMED, NAMED)
    with databases(Settings(home=tmp_path, database_url=NAMED, rate_limit={"database_url": OTHER})) as found:
        assert found == (NAMED, OTHER)
    assert list(tmp_path.iterdir()) == []


def test_without_a_name_one_is_created_in_the_state_folder_only_for_who_begins(tmp_path):
    settings = Settings(home=tmp_path / "home")
    with pytest.raises(ConfigurationError, match=r"there is no database in .*home, and a new one"), databases(settings):
        pass
    assert list(tmp_path.iterdir()) == []
    with databases(settings, create=True) as (ledger, limits):
        assert ledger == limits
    assert is_there(settings)
    with databases(settings) as (again, _):
        assert again == ledger
