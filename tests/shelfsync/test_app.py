"""The databases of an installation with chains: one for each, and one that counts the requests of all."""

from __future__ import annotations

import contextlib
import datetime as dt
import uuid
from typing import TYPE_CHECKING

import psycopg
import pytest
import sqlalchemy as sa
from psycopg import sql

from shelfsync.app import open_app, shared_context
from shelfsync.chosen_chain import chosen
from shelfsync.errors import ConfigurationError
from shelfsync.housekeeping.remove_expired import remove_expired
from shelfsync.platform.rate_limit import tables
from shelfsync.platform.rate_limit.rate_limiter import RateLimiter
from shelfsync.settings import read_settings
from shelfsync.store.lake import Lake

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def chains(monkeypatch, tmp_path, empty_database_url, administration) -> Iterator[str]:
    """Two chains in a database of this test; their databases go with it. The DSN of the shared one."""
    path = tmp_path / "shelfsync.toml"
    path.write_text(f'home = "{tmp_path}"\n[chains.north]\n[chains.south]\n')
    path.chmod(0o600)
    monkeypatch.setenv("SHELFSYNC_CONFIG", str(path))
    monkeypatch.setenv("SHELFSYNC_DATABASE_URL", empty_database_url)
    yield empty_database_url
    name = psycopg.conninfo.conninfo_to_dict(empty_database_url)["dbname"]
    for chain in ("north", "south"):
        database = sql.Identifier(f"{name}_{chain}")
        administration.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(database))


def _opened(chain, *, begins=True):
    with chosen(chain):
        return open_app(read_settings(), begins=begins)


def _exists(administration, name):
    return bool(administration.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchall())


@pytest.mark.slow
def test_each_chain_gets_a_database_and_its_requests_are_counted_in_the_shared_one(chains):
    for chain in ("north", "south"):
        with _opened(chain) as context:
            assert context.engine.url.database.endswith(f"_{chain}")
            limiter = RateLimiter(context.limits, context.settings.rate_limit, context.clock, chain=chain)
            limiter.admit("put_catalog", "catalog", ())
            limiter.done("put_catalog", "catalog", True)
            with context.engine.connect() as own, context.limits.connect() as shared:
                count = sa.select(sa.func.count()).select_from(tables.permit)
                assert own.execute(count).scalar_one() == 0
                served = list(shared.execute(sa.select(tables.turn.c.chain).order_by(tables.turn.c.chain)).scalars())
    assert served == ["north", "south"]


@pytest.mark.slow
def test_housekeeping_of_a_chain_removes_the_old_use_of_the_shared_limit_and_no_file_of_another(chains):
    with _opened("north") as north:
        kept = north.lake.write_bytes("raw", "store-001", ".bin", b"of north")
        old = {"key": "egress", "chain": "south", "priority": "price", "operation": "x"}
        with north.limits.begin() as shared:
            shared.execute(sa.insert(tables.usage).values(**old, hour_at=dt.datetime(2020, 1, 1, tzinfo=dt.UTC)))
        assert remove_expired(north)["rows"] == {"rate_limit.usage": 1}
        outer = Lake(north.settings.lake.removesuffix("/north"))
        assert [file.path for folder in outer.folders() for file in outer.files(folder)] == []
        assert north.lake.exists(kept)


@pytest.mark.slow
def test_the_database_of_one_chain_is_opened_for_no_other(chains, monkeypatch):
    with _opened("north") as north:
        address = north.engine.url.render_as_string(hide_password=False)
    monkeypatch.setenv("SHELFSYNC_CHAINS__SOUTH__DATABASE_URL", address)
    with pytest.raises(ConfigurationError, match="is that of the chain north, and not of south"), _opened("south"):
        pass


@pytest.mark.slow
def test_a_renamed_chain_takes_its_database_along_by_the_statement_of_the_error(chains, monkeypatch):
    with _opened("north") as north:
        address = north.engine.url.render_as_string(hide_password=False)
    monkeypatch.setenv("SHELFSYNC_CHAINS__SOUTH__DATABASE_URL", address)
    with pytest.raises(ConfigurationError, match="If the chain north is called south now, run there:") as refused:
        _opened("south").__enter__()
    with psycopg.connect(address.replace("+psycopg", "")) as connection:
        connection.execute(refused.value.remedy.partition("run there: ")[2])
    with _opened("south") as south:
        assert south.settings.chain == "south"


def _no_database(name):
    return (
        f"SHELFSYNC_CHAIN: there is no database {name}, and a new one would not know what was sent for the chain north."
        " If the chain is new, run `shelfsync --chain north check`, which creates it;"
        " if not, let an administrator give the database its name back."
    )


def _in_a_task():
    return _opened("north", begins=False)


def _that_only_reads():
    with chosen("north"):
        return open_app(read_settings(), migrate=False)


@contextlib.contextmanager
def _in_a_trigger():
    with chosen("north"):
        yield shared_context(read_settings())


@pytest.mark.parametrize("way", [_in_a_task, _that_only_reads, _in_a_trigger])
def test_what_finds_no_database_of_its_chain_creates_none(chains, administration, way):
    """A renamed database would be followed by an empty one, and a delta would send everything on it."""
    name = f"{psycopg.conninfo.conninfo_to_dict(chains)['dbname']}_north"
    with pytest.raises(ConfigurationError) as caught, way():
        pass
    assert str(caught.value) == _no_database(name)
    assert not _exists(administration, name)


@pytest.mark.slow
def test_a_task_works_again_once_the_database_has_its_name_back(chains, administration):
    with _opened("north") as north:
        name = north.engine.url.database
    rename = "ALTER DATABASE {} RENAME TO {}"
    names = sql.Identifier(name), sql.Identifier(f"{name}_away")
    administration.execute(sql.SQL(rename).format(*names))
    try:
        with pytest.raises(ConfigurationError, match="there is no database"), _in_a_task():
            pass
    finally:
        administration.execute(sql.SQL(rename).format(*reversed(names)))
    with _in_a_task() as north:
        assert north.settings.chain == "north"


def test_without_a_chain_nothing_is_opened(chains):
    with pytest.raises(ConfigurationError, match="has the chains north, south, and none is named"), _opened(None):
        pass


@pytest.mark.slow
def test_a_role_that_may_create_no_database_is_told_the_statement(chains, administration, monkeypatch):
    role = f"plain_{uuid.uuid4().hex[:8]}"
    administration.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'plain-secret'").format(sql.Identifier(role)))
    parts = psycopg.conninfo.conninfo_to_dict(chains)
    address = f"postgresql://{role}:plain-secret@{parts['host']}:{parts['port']}/{parts['dbname']}"
    monkeypatch.setenv("SHELFSYNC_DATABASE_URL", address)
    try:
        with pytest.raises(ConfigurationError) as caught, _opened("north"):
            pass
        assert f"CREATE DATABASE {parts['dbname']}_north OWNER {role};" in str(caught.value)
        assert "plain-secret" not in str(caught.value)
    finally:
        administration.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))
