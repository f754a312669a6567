from __future__ import annotations

import socket

import pytest

from shelfsync.errors import ConfigurationError, UnreachableError
from shelfsync.store import engine


@pytest.mark.parametrize("url", ["mysql://u:p@h/d", "sqlite:///x", "not an address"])
def test_an_address_that_is_no_postgresql_is_named_with_its_setting_and_without_its_password(url):
    with pytest.raises(ConfigurationError, match="SHELFSYNC_DATABASE_URL") as caught:
        engine.database_url(url)
    assert "u:p" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg2", "postgresql+asyncpg"])
def test_every_spelling_of_postgresql_is_taken(scheme):
    assert engine.database_url(f"{scheme}://u:p@h:1/d").drivername == "postgresql+psycopg"


def test_a_server_that_is_not_there_is_one_line_with_the_remedy():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    unreachable = engine.create_engine(f"postgresql://u:hidden@127.0.0.1:{port}/d")
    with pytest.raises(UnreachableError) as caught:
        engine.check(unreachable)
    line = str(caught.value)
    assert "\n" not in line
    assert "SHELFSYNC_DATABASE_URL" in line
    assert "hidden" not in line
