"""The receiver's own role: it allows everything that the receiver does, and nothing else."""

from __future__ import annotations

import json
import os
import urllib.request
from urllib.parse import quote

import psycopg
import pytest
import sqlalchemy as sa

from receiver_fixture import SECRET, LiveReceiver
from shelfsync.errors import ConfigurationError
from shelfsync.receiver.database_role import RIGHTS, grant, grant_rights, older_role_lines, role_statements
from shelfsync.receiver.secret import StoreSecrets
from shelfsync.warehouse.every_table import metadata

PASSWORD = "canary-of-the-role"
KEY = "a picking key of the chain"
SCHEMAS = sorted({str(table.schema) for table in metadata.tables.values()})
ORDER = "5b8e6f3c-1111-4222-8333-444455556666"


@pytest.fixture
def role_url(database_url):
    """A database address with a role of this test, which had all rights once."""
    role = f"receiver_{os.getpid()}"
    with psycopg.connect(database_url) as connection:
        connection.execute(f"CREATE ROLE {role} CREATEDB CREATEROLE")
        connection.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA ledger, inbox, warehouse TO {role}")
        connection.execute(f"GRANT ALL ON SCHEMA ledger, inbox, warehouse, public TO {role}")
        assert grant_rights(connection, role, PASSWORD) is False
        assert grant_rights(connection, role, PASSWORD) is False
    url = sa.make_url(database_url).set(username=role, password=PASSWORD)
    yield url.render_as_string(hide_password=False)
    with psycopg.connect(database_url) as connection:
        connection.execute(f"DROP OWNED BY {role}")
        connection.execute(f"DROP ROLE {role}")


def _post(port, path, body, secret):
    call = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", None if body is None else json.dumps(body).encode(), {"Authorization": secret}
    )
    with urllib.request.urlopen(call, timeout=20) as answer:
        return answer.status, json.loads(answer.read())


@pytest.mark.slow
def test_everything_that_the_receiver_does_goes_through(role_url, engine):
    store = _store_secret("store-001")
    with LiveReceiver(role_url, SHELFSYNC_ORDERS__PICKING_SECRET=KEY) as receiver:
        assert _post(receiver.port, "/health", None, "") == (200, {"status": "ok"})
        for status in ("stored", "known"):
            assert _post(receiver.port, "/webhook", {"job_id": "1"}, SECRET) == (200, {"status": status})
            assert _post(receiver.port, "/webhook", {"order_id": ORDER, "status": "X"}, SECRET)[1] == {"status": status}
        for code in (202, 200):
            body = {"result_id": "r", "action": "cancel", "reason": "CLOSED"}
            assert _post(receiver.port, f"/picking/{ORDER}", body, store)[0] == code
        assert _post(receiver.port, f"/picking/{ORDER}", None, store)[1]["results"][0]["state"] == "waiting"
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM inbox.event").scalar_one() == 2


def _store_secret(vendor):
    from pydantic import SecretStr

    return StoreSecrets(SecretStr(KEY)).of(vendor)


DENIED = [
    "SELECT body FROM inbox.event",
    "SELECT * FROM inbox.event",
    "SELECT vendor FROM inbox.event",
    "UPDATE inbox.event SET processed_at = now()",
    "DELETE FROM inbox.event",
    "TRUNCATE inbox.event",
    "INSERT INTO inbox.event (kind, identity, body, processed_at) VALUES ('unknown', 'x', '', now())",
    "SELECT body FROM ledger.picking_result",
    "UPDATE ledger.picking_result SET state = 'done'",
    "DELETE FROM ledger.picking_result",
    "INSERT INTO ledger.picking_result (state) VALUES ('done')",
    "CREATE TABLE ledger.mine (a int)",
    "CREATE TABLE public.mine (a int)",
    "CREATE SCHEMA mine",
    "CREATE ROLE mine",
    "CREATE DATABASE mine",
    "COPY inbox.event TO PROGRAM 'true'",
    "SELECT pg_read_file('postgresql.conf')",
    "SELECT * FROM pg_authid",
]


def test_forbidden_statements_are_denied(role_url, database_url):
    owner = sa.make_url(database_url).username
    with psycopg.connect(role_url, autocommit=True) as connection:
        for statement in (*DENIED, f"SET ROLE {owner}"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


def test_no_other_table_can_be_read_or_written(role_url):
    with psycopg.connect(role_url, autocommit=True) as connection:
        for table in metadata.tables.values():
            if table in RIGHTS:
                continue
            for statement in (f"SELECT 1 FROM {table}", f"INSERT INTO {table} DEFAULT VALUES", f"DELETE FROM {table}"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement)


def test_the_password_reaches_the_server_as_a_verifier_alone(role_url, database_url):
    role = sa.make_url(role_url).username
    with psycopg.connect(database_url) as connection:
        kept = connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname = %s", [role]).fetchone()[0]
    assert kept.startswith("SCRAM-SHA-256$")
    assert quote(PASSWORD) not in kept


@pytest.fixture
def owner(database_url):
    """The address of an owner of the database and its tables who is no superuser, as a managed server has it, and a receiver's role."""
    owner, role = f"owner_{os.getpid()}", f"receives_{os.getpid()}"
    with psycopg.connect(database_url) as connection:
        connection.execute(f"CREATE ROLE {owner} LOGIN PASSWORD '{PASSWORD}'")
        connection.execute(f"ALTER DATABASE {connection.info.dbname} OWNER TO {owner}")
        for schema in SCHEMAS:
            connection.execute(f"ALTER SCHEMA {schema} OWNER TO {owner}")
        things = connection.execute(
            "SELECT format('ALTER %%s %%s OWNER TO ', CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, c.oid::regclass)"
            " FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace"
            " WHERE nspname = ANY(%(schemas)s) AND relkind IN ('r', 'p', 'v', 'S')"
            " AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = c.oid AND deptype IN ('a', 'i') AND relkind = 'S')"
            " UNION ALL SELECT format('ALTER FUNCTION %%s OWNER TO ', p.oid::regprocedure) FROM pg_proc AS p"
            " JOIN pg_namespace AS n ON n.oid = pronamespace WHERE nspname = ANY(%(schemas)s)",
            {"schemas": [*SCHEMAS, "public"]},
        ).fetchall()
        for (change,) in things:
            connection.execute(change + owner)
    yield sa.make_url(database_url).set(username=owner, password=PASSWORD, drivername="postgresql+psycopg"), role
    with psycopg.connect(database_url) as connection:
        connection.execute(f"REASSIGN OWNED BY {owner} TO CURRENT_USER")
        for name in (role, owner):
            if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone():
                connection.execute(f"DROP OWNED BY {name}")
                connection.execute(f"DROP ROLE {name}")


@pytest.mark.slow
def test_an_owner_without_superuser_grants_what_is_the_owners(owner, database_url):
    """If a role has to be made or changed, the statements for an administrator are in the error; after them the same command works."""
    url, role = owner
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
    with pytest.raises(ConfigurationError, match="an administrator of the server run `CREATE ROLE") as caught:
        grant(engine, role)
    statement = str(caught.value).split("`")[1]
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(statement)
        assert grant(engine, role) is False
        connection.execute(f"ALTER ROLE {role} CREATEDB")
        with pytest.raises(ConfigurationError, match=f'ALTER ROLE "{role}" NOCREATEDB;'):
            grant(engine, role)
        connection.execute(f"ALTER ROLE {role} NOCREATEDB")
    assert grant(engine, role) is False
    with psycopg.connect(url.set(drivername="postgresql").render_as_string(hide_password=False)) as connection:
        assert role_statements(connection, role) == []


@pytest.mark.slow
def test_an_owner_who_may_make_roles_makes_the_receivers(owner, database_url):
    url, role = owner
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f"ALTER ROLE {url.username} CREATEROLE")
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool)
    assert grant(engine, role) is True
    assert grant(engine, role) is False


@pytest.mark.parametrize(
    ("older", "places"),
    [
        ("REVOKE ALL ON inbox.refusal FROM {}", "inbox.refusal"),
        ("REVOKE SELECT (digest) ON ledger.picking_result FROM {}", "ledger.picking_result"),
        ("REVOKE USAGE ON SCHEMA ledger FROM {}", "the schema"),
    ],
)
def test_a_role_that_an_older_version_made_is_named(role_url, engine, older, places):
    role = sa.make_url(role_url).username

    assert older_role_lines(engine) == []
    with engine.begin() as connection:
        connection.exec_driver_sql(older.format(role))
    (line,) = older_role_lines(engine)
    assert f"lacks rights on {places}" in line
    assert f"`shelfsync inbox grant {role}`" in line
    grant(engine, role)
    assert older_role_lines(engine) == []


def test_a_role_that_may_write_every_table_is_none_of_the_receiver(engine):
    role = f"loader_{os.getpid()}"
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {role} IN ROLE pg_write_all_data")
    try:
        assert older_role_lines(engine) == []
    finally:
        with engine.begin() as connection:
            connection.exec_driver_sql(f"DROP ROLE {role}")
