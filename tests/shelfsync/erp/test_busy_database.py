"""A database of the ERP that is locked, full, restarted or in conflict: exit code 5, so a schedule tries again."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from typing import TYPE_CHECKING

import pymysql
import pytest
import sqlalchemy as sa

from shelfsync.erp.connection import APPLICATION_NAME
from shelfsync.erp.open import open_source
from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.exit_codes import ExitCode
from shelfsync.settings import ErpSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = "SELECT 'v' AS vendor, 's' AS sku, {} AS price"
RAISE = """CREATE FUNCTION fail(state text) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'words of the server' USING ERRCODE = state; END $$"""


def error_of(act: Callable[[], object]) -> ShelfsyncError:
    with pytest.raises(ShelfsyncError) as caught:
        act()
    assert "canary-password" not in str(caught.value)
    return caught.value


def read(url: str, sql: str, **more: object) -> None:
    with open_source(ErpSettings(url=url, sql=sql, **more)).read() as extract:
        list(extract)


def execute(engine: sa.Engine, sql: str) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql(sql)


@pytest.mark.parametrize("driver", ["postgresql+psycopg", "postgresql+psycopg2"])
@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("55P03", "has locked"),
        ("40P01", "deadlock"),
        ("40001", "one instant"),
        ("57P01", "starts, stops"),
        ("53300", "no connection left"),
        ("53100", "disk space or memory"),
        ("58030", "failed within itself"),
        ("08006", "broke the connection"),
    ],
)
def test_what_passes_by_itself_ends_with_five_in_a_reading(erp_url, erp_engine, driver, state, words):
    execute(erp_engine, RAISE)
    url = erp_url.replace("postgresql+psycopg", driver)
    error = error_of(lambda: read(url, ROWS.format(f"fail('{state}')")))
    assert error.exit_code == ExitCode.TRY_AGAIN
    assert words in str(error)
    assert "words of the server" in str(error)


@pytest.mark.parametrize("state", ["42P01", "22012", "P0001", "42501", "53400"])
def test_what_stays_wrong_ends_with_three(erp_url, erp_engine, state):
    execute(erp_engine, RAISE)
    error = error_of(lambda: read(erp_url, ROWS.format(f"fail('{state}')")))
    assert error.exit_code == ExitCode.CONFIGURATION


@pytest.mark.parametrize("driver", ["postgresql+psycopg", "postgresql+psycopg2"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("CASE WHEN n = 250 THEN '12,5' ELSE '1' END::numeric", "invalid input syntax"),
        ("(SELECT 1 FROM generate_series(1, n / 250 + 1))", "more than one row"),
        ("CASE WHEN n = 250 THEN '31.02.2026' ELSE '2026-02-01' END::date", "date"),
        ("CASE WHEN n = 250 THEN fail('42501') ELSE 1 END", "GRANT SELECT"),
    ],
)
def test_a_row_in_the_middle_that_always_fails_ends_with_three(erp_url, erp_engine, driver, value, words):
    """The next run would fail in the same way, and the database has answered: it is no outage."""
    execute(erp_engine, RAISE)
    url = erp_url.replace("postgresql+psycopg", driver)
    sql = f"SELECT 'v' AS vendor, n AS sku, {value} AS price FROM generate_series(1, 300) n"
    error = error_of(lambda: read(url, sql, chunk_rows=100))
    assert error.exit_code == ExitCode.CONFIGURATION
    assert "after 200 rows" in str(error)
    assert words in str(error)


def test_a_count_that_the_database_does_not_accept_ends_with_three(erp_url):
    error = error_of(lambda: read(erp_url, ROWS.format("1"), count_sql="SELECT count(*) FROM absent"))
    assert error.exit_code == ExitCode.CONFIGURATION
    assert "SHELFSYNC_ERP__COUNT_SQL" in str(error)


def test_a_right_that_is_taken_away_before_the_count_ends_with_three(erp_url, erp_engine):
    """The automatic count is a statement like the SELECT: what no repetition mends is final there too."""
    role = f"reader_{sa.make_url(erp_url).database}"
    execute(erp_engine, "CREATE TABLE item AS " + ROWS.format("1"))
    execute(erp_engine, f"CREATE ROLE {role} LOGIN PASSWORD 'canary-password-7'")
    execute(erp_engine, f"GRANT SELECT ON item TO {role}")
    url = sa.make_url(erp_url).set(username=role, password="canary-password-7").render_as_string(hide_password=False)

    def read_and_revoke() -> None:
        with open_source(ErpSettings(url=url, sql="SELECT * FROM item")).read() as extract:
            for _ in extract:
                execute(erp_engine, f"REVOKE SELECT ON item FROM {role}")

    try:
        error = error_of(read_and_revoke)
    finally:
        execute(erp_engine, f"DROP OWNED BY {role}")
        execute(erp_engine, f"DROP ROLE {role}")
    assert error.exit_code == ExitCode.CONFIGURATION
    assert str(error).startswith("SHELFSYNC_ERP__SQL: ")
    assert "GRANT SELECT" in str(error)


def test_a_lock_timeout_of_postgresql_itself_is_told_as_a_lock(erp_url, erp_engine):
    execute(erp_engine, "CREATE TABLE item AS " + ROWS.format("1"))
    url = f"{erp_url}{'&' if '?' in erp_url else '?'}options=-c%20lock_timeout%3D50"
    with erp_engine.begin() as other:
        other.exec_driver_sql("LOCK TABLE item IN ACCESS EXCLUSIVE MODE")
        for act in (
            lambda: read(url, "SELECT * FROM item"),
            lambda: open_source(ErpSettings(url=url, sql="SELECT * FROM item")).check(),
        ):
            error = error_of(act)
            assert error.exit_code == ExitCode.TRY_AGAIN
            assert "has locked what was read" in str(error)
            assert "Correct it" not in str(error)


def test_a_true_deadlock_of_postgresql_is_told_as_that(erp_url, erp_engine):
    """The SELECT calls a function that takes one lock and waits for another; who has that one waits for the first."""
    execute(
        erp_engine,
        "CREATE FUNCTION two_locks() RETURNS numeric LANGUAGE plpgsql AS $$"
        " BEGIN PERFORM pg_advisory_xact_lock(71); PERFORM pg_advisory_xact_lock(72); RETURN 1; END $$",
    )
    waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 72 AND NOT granted"

    def turn_round(other: sa.Connection) -> None:
        until = time.monotonic() + 30
        while not other.exec_driver_sql(waits).scalar_one():
            assert time.monotonic() < until, "the SELECT does not wait"
            time.sleep(0.01)
        other.exec_driver_sql("SELECT pg_advisory_xact_lock(71)")  # granted once the SELECT was ended

    with erp_engine.begin() as other:
        other.exec_driver_sql("SET LOCAL deadlock_timeout = '1min'")  # so that the server ends the SELECT, and not this
        other.exec_driver_sql("SELECT pg_advisory_xact_lock(72)")
        thread = threading.Thread(target=turn_round, args=(other,))
        thread.start()
        try:
            error = error_of(lambda: read(erp_url, ROWS.format("two_locks()")))
        finally:
            thread.join()
    assert error.exit_code == ExitCode.TRY_AGAIN
    assert "deadlock" in str(error)


def test_an_administrators_end_of_the_session_or_of_the_statement_is_told_as_that(erp_url, erp_engine):
    for act, words in (("pg_terminate_backend", "starts, stops"), ("pg_cancel_backend", "was told to end")):
        sql = ROWS.format("length(pg_sleep(20)::text)")

        def end(act: str = act) -> None:
            with erp_engine.connect().execution_options(isolation_level="AUTOCOMMIT") as other:
                asked = f"SELECT {act}(pid) FROM pg_stat_activity WHERE application_name = '{APPLICATION_NAME}' AND wait_event = 'PgSleep'"
                while other.exec_driver_sql(asked).scalar() is None:
                    pass

        admin = threading.Thread(target=end)
        admin.start()
        error = error_of(lambda: read(erp_url, sql))  # noqa: B023
        admin.join()
        assert error.exit_code == ExitCode.TRY_AGAIN
        assert words in str(error)


def test_a_full_postgresql_is_told_as_full(erp_url, erp_engine):
    role = f"crowded_{sa.make_url(erp_url).database}"
    execute(erp_engine, f"CREATE ROLE {role} LOGIN PASSWORD 'canary-password-7' CONNECTION LIMIT 0")
    try:
        url = sa.make_url(erp_url).set(username=role, password="canary-password-7")
        error = error_of(lambda: read(url.render_as_string(hide_password=False), ROWS.format("1")))
    finally:
        execute(erp_engine, f"DROP ROLE {role}")
    assert error.exit_code == ExitCode.TRY_AGAIN
    assert "has no connection left" in str(error)
    assert "Correct host" not in str(error)


def test_a_file_that_is_no_sqlite_is_told_as_a_wrong_path(tmp_path: Path):
    (tmp_path / "erp.db").write_bytes(b"vendor,sku,price\n" * 600)
    error = error_of(lambda: read(f"sqlite:///{tmp_path / 'erp.db'}", "SELECT * FROM item"))
    assert error.exit_code == ExitCode.CONFIGURATION
    assert str(error).startswith("SHELFSYNC_ERP__URL: sqlite at ")
    assert "file is not a database. Correct the path." in str(error)


def test_a_locked_sqlite_file_is_told_as_locked_and_a_damaged_one_as_damaged(tmp_path: Path):
    file = tmp_path / "erp.db"
    with contextlib.closing(sqlite3.connect(file)) as erp, erp:
        erp.execute("CREATE TABLE item (vendor, sku, price)")
        erp.executemany("INSERT INTO item VALUES ('v', ?, 1)", [("s" * 300,)] * 100)
    url = f"sqlite:///{file}?timeout=0.1"
    with contextlib.closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN EXCLUSIVE")
        error = error_of(lambda: read(url, "SELECT * FROM item"))
    assert error.exit_code == ExitCode.TRY_AGAIN
    assert "has locked what was read" in str(error)
    with file.open("r+b") as written:
        written.seek(4096)
        written.write(b"\xff" * 8192)
    error = error_of(lambda: read(url, "SELECT * FROM item"))
    assert error.exit_code == ExitCode.TRY_AGAIN
    assert "failed within itself" in str(error)


def test_a_sqlite_file_whose_writer_died_in_the_middle_is_no_wrong_select(tmp_path: Path):
    """Who may not write cannot roll it back; the ERP does so with its next statement."""
    file = tmp_path / "erp.db"
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as erp:
        erp.execute("CREATE TABLE item (vendor, sku, price)")
        erp.executemany("INSERT INTO item VALUES ('v', ?, 1)", [("s" * 300,)] * 100)
        erp.execute("PRAGMA cache_size = 2")
        erp.execute("BEGIN")
        erp.execute("UPDATE item SET price = 2, sku = sku || 'x'")
        died = tmp_path / "died.db"
        for end in ("", "-journal"):
            (tmp_path / f"died.db{end}").write_bytes((tmp_path / f"erp.db{end}").read_bytes())
    error = error_of(lambda: read(f"sqlite:///file:{died}?mode=ro&uri=true", "SELECT * FROM item"))
    assert error.exit_code == ExitCode.TRY_AGAIN
    assert "one instant" in str(error)
    read(f"sqlite:///{died}", "SELECT * FROM item")


@pytest.mark.slow
def test_mariadb_is_told_by_its_own_numbers(mariadb_port):
    url = f"mysql+pymysql://shop:canary-password-3@127.0.0.1:{mariadb_port}/erp"
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    execute(engine, "CREATE OR REPLACE TABLE busy AS " + ROWS.format("1"))
    told = {
        1205: "has locked",
        1213: "deadlock",
        1040: "no connection left",
        1317: "was told to end",
        1021: "disk space",
        2013: "broke the connection",
    }
    for number, words in told.items():
        execute(
            engine,
            "CREATE OR REPLACE FUNCTION fail() RETURNS int DETERMINISTIC NO SQL BEGIN "
            f"SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = {number}, MESSAGE_TEXT = 'words of the server'; RETURN 1; END",
        )
        error = error_of(lambda: read(url, ROWS.format("fail()")))
        assert (number, error.exit_code) == (number, ExitCode.TRY_AGAIN)
        assert words in str(error)
    with contextlib.closing(
        pymysql.connect(host="127.0.0.1", port=mariadb_port, user="shop", password="canary-password-3", database="erp")
    ) as other:
        other.cursor().execute("LOCK TABLES busy WRITE")
        init = "?init_command=SET%20SESSION%20lock_wait_timeout%3D1"
        error = error_of(lambda: read(url + init, "SELECT * FROM busy"))
    assert error.exit_code == ExitCode.TRY_AGAIN
    assert "has locked what was read" in str(error)
    with pytest.raises(ConfigurationError, match="does not accept the SELECT"):
        read(url, "SELECT * FROM absent")
    execute(engine, "CREATE OR REPLACE TABLE loaded (vendor int) ENGINE=InnoDB")
    execute(engine, "ALTER TABLE loaded DISCARD TABLESPACE")
    assert error_of(lambda: read(url, "SELECT * FROM loaded")).exit_code == ExitCode.TRY_AGAIN, "it is being loaded"
    execute(engine, "DROP TABLE loaded")
    error = error_of(lambda: read(url, ROWS.format("SLEEP(20)"), timeout_s=1))
    assert error.exit_code == ExitCode.TRY_AGAIN
    assert "did not answer in time" in str(error)
    engine.dispose()
