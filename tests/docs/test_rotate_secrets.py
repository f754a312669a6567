"""The page of rotation has every secret, and a second login of the database takes over without an interruption."""

from __future__ import annotations

import re
import types
import typing
from pathlib import Path

import psycopg
import pytest
from pydantic import BaseModel, SecretStr

from shelfsync.migrations.upgrade import upgrade
from shelfsync.platform import kill_switch
from shelfsync.settings import Settings
from shelfsync.store.engine import create_engine

ROOT = Path(__file__).resolve().parents[2]
OWNER = "chain_owner"
"""The page names it shelfsync; here that is the administrator."""
PAGE = (ROOT / "docs/how-to/rotate-secrets.md").read_text("utf-8")


def kinds(annotation):
    """The classes that an annotation is made of."""
    for part in typing.get_args(annotation):
        yield from kinds(part)
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        yield annotation


def secrets(model, *path):
    """The variable of each secret in the settings."""
    for name, field in model.model_fields.items():
        for kind in kinds(field.annotation):
            if issubclass(kind, SecretStr):
                yield "SHELFSYNC_" + "__".join(part.upper() for part in (*path, name))
            elif issubclass(kind, BaseModel):
                yield from secrets(kind, *path, name)


def test_the_page_has_every_secret_of_the_settings():
    found = set(secrets(Settings))
    assert {"SHELFSYNC_WEBHOOK__SECRET", "SHELFSYNC_ALERTS__ROUTES__ADDRESS", "SHELFSYNC_DATABASE_URL"} <= found
    assert len(found) >= 16
    in_page = {*re.findall(r"SHELFSYNC_[A-Z_]+[A-Z]", PAGE)}
    short = {name.removesuffix("_PREVIOUS") for name in found if name.endswith("_PREVIOUS") and "_PREVIOUS" in PAGE}
    missing = {name for name in found - in_page if name.removesuffix("_PREVIOUS") not in short}
    assert {name.removesuffix("__ADDRESS") for name in missing} - in_page == set()


def test_every_secret_of_the_containers_is_in_the_page():
    made = (ROOT / "scripts/compose_env.py").read_text("utf-8")
    names = {*re.findall(r'"([A-Z_]+(?:PASSWORD|KEY|SECRET))":', made)}
    assert len(names) >= 6
    assert {name for name in names if name not in PAGE} == set()


@pytest.mark.slow
def test_a_second_login_takes_over_while_the_first_one_works(administration, postgres):
    block = re.search(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    statements = block[1].replace("'the new password'", "'canary-password-2'").replace("shelfsync", OWNER)
    address = postgres.dsn("rotated")
    administration.execute(f"CREATE ROLE {OWNER} LOGIN PASSWORD 'canary-password-1'")
    administration.execute(f"CREATE DATABASE rotated OWNER {OWNER}")
    try:
        first = create_engine(with_login(address, OWNER, "canary-password-1"))
        upgrade(first)
        with first.begin() as working:  # its transaction is open all the while
            kill_switch.turn(working, "all", "", stopped=True, why="rotation", who="ada")
            for statement in statements.strip().split(";\n"):
                administration.execute(statement)
            second = create_engine(with_login(address, f"{OWNER}_b", "canary-password-2"))
            upgrade(second)
            with second.begin() as connection:
                kill_switch.turn(connection, "vendor", "store-001", stopped=True, why="rotation", who="bob")
                connection.exec_driver_sql("CREATE TABLE warehouse.of_a_month (n int)")
                owner = "SELECT tableowner FROM pg_tables WHERE tablename = 'of_a_month'"
                assert connection.exec_driver_sql(owner).scalar_one() == OWNER, "also what it creates"
            administration.execute(f"ALTER ROLE {OWNER} NOLOGIN")
            kill_switch.turn(working, "chain", "demo-chain", stopped=True, why="rotation", who="ada")
        first.dispose()
        with pytest.raises(psycopg.OperationalError, match="not permitted to log in"):
            psycopg.connect(with_login(address, OWNER, "canary-password-1"))
        with second.connect() as connection:
            assert len(kill_switch.stops(connection)) == 3
        second.dispose()
    finally:
        administration.execute("DROP DATABASE IF EXISTS rotated WITH (FORCE)")
        administration.execute(f"DROP ROLE IF EXISTS {OWNER}_b")
        administration.execute(f"DROP ROLE IF EXISTS {OWNER}")


def with_login(address: str, user: str, password: str) -> str:
    return re.sub(r"//[^@]+@", f"//{user}:{password}@", address)
