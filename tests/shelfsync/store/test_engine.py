from __future__ import annotations

import os
import socket
import sys

import psycopg
import pytest
import sqlalchemy as sa

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


def _options(session: psycopg.Connection) -> dict[str, int]:
    """The options of the session's socket that decide when its kernel gives a silent server up."""
    with socket.socket(fileno=os.dup(session.fileno())) as used:
        names = ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")
        return {name: used.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in names}


@pytest.mark.skipif(sys.platform != "linux", reason="the names of these options are Linux's")
@pytest.mark.parametrize("own", [False, True], ids=["engine", "connection of one's own"])
def test_a_server_whose_machine_vanished_is_given_up_after_two_minutes(database_url, own):
    """By default the kernel waits two hours for an answer, and a quarter of an hour for the receipt of a statement."""
    used = engine.create_engine(database_url)
    try:
        if own:
            with psycopg.connect(engine.libpq_url(used)) as session:
                found = _options(session)
        else:
            with used.connect() as connection:
                found = _options(connection.connection.driver_connection)
    finally:
        used.dispose()
    assert found["TCP_USER_TIMEOUT"] == 120_000
    assert found["TCP_KEEPIDLE"] + found["TCP_KEEPINTVL"] * found["TCP_KEEPCNT"] == 120


def test_no_statement_is_compiled_by_the_server(database_url):
    """The status of 200 stores, planned for more than `jit_above_cost`, took 1.5 s with it and 0.2 s without (PostgreSQL 15, as Debian has it)."""
    made = engine.create_engine(database_url)
    with made.connect() as connection:
        assert connection.execute(sa.text("SHOW jit")).scalar_one() == "off"
    made.dispose()


def test_what_the_address_has_about_signs_of_life_stays():
    url = engine.create_engine("postgresql://u:p@h/d?tcp_user_timeout=5000&sslmode=require").url
    assert (url.query["tcp_user_timeout"], url.query["sslmode"], url.query["keepalives_idle"]) == (
        "5000",
        "require",
        "30",
    )


@pytest.fixture
def pinged(database_url, monkeypatch):
    """An engine, and the pings of its connections."""
    used = engine.create_engine(database_url)
    pings: list[object] = []
    ping = used.dialect.do_ping
    monkeypatch.setattr(used.dialect, "do_ping", lambda session: pings.append(session) or ping(session))
    yield used, pings
    used.dispose()


def _session(used):
    with used.connect() as connection:
        return connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()


def test_a_connection_of_a_moment_ago_is_used_without_a_round_trip(pinged, monkeypatch):
    used, pings = pinged
    first = _session(used)
    assert ([_session(used) for _ in range(5)], pings) == ([first] * 5, [])
    monkeypatch.setattr(engine, "PING_AFTER_S", 0.0)
    assert (_session(used), len(pings)) == (first, 1)


def test_a_session_that_the_server_ended_a_moment_ago_is_replaced_before_it_is_used(pinged):
    used, pings = pinged
    with used.connect() as one, used.connect() as other:
        pids = {each.execute(sa.text("SELECT pg_backend_pid()")).scalar_one() for each in (one, other)}
    for pid in pids:
        with psycopg.connect(engine.libpq_url(used), autocommit=True) as session:
            session.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
    assert (_session(used) in pids, len(pings)) == (False, 1)
    assert (_session(used) in pids, len(pings)) == (False, 1), "the other dead session is not taken from the pool"
