"""Only a person who begins with a chain has its database created."""

from __future__ import annotations

import contextlib

import psycopg
import pytest
from psycopg import sql

from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.migrations.upgrade import is_current
from shelfsync.missing_database import open_ready


@pytest.fixture
def missing(empty_database_url, administration):
    """The address of a chain's database that is not there."""
    name = psycopg.conninfo.conninfo_to_dict(empty_database_url)["dbname"]
    yield empty_database_url.replace(f"/{name}", f"/{name}_north")
    administration.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(f"{name}_north")))


def test_a_database_that_is_not_there_is_created_for_a_beginner_alone(missing):
    with contextlib.ExitStack() as stack:
        with pytest.raises(ConfigurationError, match=r"run `shelfsync --chain north check`, which creates it"):
            open_ready(missing, stack, is_current, chain="north")
        with pytest.raises(ShelfsyncError):
            open_ready(missing, stack, is_current, create=True)
        engine = open_ready(missing, stack, is_current, chain="north", create=True)
        assert not is_current(engine)
