"""Every database reads alike: one suite for PostgreSQL and MariaDB, each by its drivers, on a real server."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from shelfsync.erp.connection import APPLICATION_NAME
from shelfsync.erp.open import open_source
from shelfsync.errors import ConfigurationError, IncompleteExtractError, TryAgainError, UnreachableError
from shelfsync.settings import ErpSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
DRIVERS = ("postgresql+psycopg", "postgresql+psycopg2", "mysql+pymysql", "mariadb+pymysql")
SELECT = "SELECT vendor, sku, price, quantity, active FROM item ORDER BY sku"


@dataclass
class Erp:
    """One database that plays the ERP, with 1,000 rows in `item`, and 20 MB in the 400 rows of `wide`."""

    url: str
    engine: sa.Engine
    is_mariadb: bool

    def read(self, sql: str = SELECT, **settings: Any) -> ErpSettings:
        return ErpSettings(**{"url": self.url, "sql": sql, "chunk_rows": 100, **settings})

    def execute(self, sql: str) -> Any:
        with self.engine.begin() as connection:
            result = connection.exec_driver_sql(sql)
            return result.fetchall() if result.returns_rows else None

    def sessions(self) -> list[int]:
        """The server's numbers of what shelfsync has open."""
        if self.is_mariadb:
            found = self.execute(
                "SELECT id FROM information_schema.processlist WHERE user = 'shop' AND id <> connection_id()"
            )
        else:
            found = self.execute(f"SELECT pid FROM pg_stat_activity WHERE application_name = '{APPLICATION_NAME}'")
        return [row[0] for row in found]

    def end(self, session: int) -> None:
        self.execute(f"KILL {session}" if self.is_mariadb else f"SELECT pg_terminate_backend({session})")


@pytest.fixture(params=DRIVERS)
def erp(request) -> Iterator[Erp]:
    driver: str = request.param
    is_mariadb = driver.endswith("pymysql")
    if is_mariadb:
        port = request.getfixturevalue("mariadb_port")
        url = f"{driver}://shop:canary-password-3@127.0.0.1:{port}/erp"
    else:
        url = request.getfixturevalue("erp_url").replace("postgresql+psycopg", driver)
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    here = Erp(url, engine, is_mariadb)
    rows = "(SELECT seq AS i FROM seq_1_to_1000) AS n" if is_mariadb else "generate_series(1, 1000) AS i"
    kind = "char" if is_mariadb else "varchar"
    here.execute("DROP TABLE IF EXISTS item")
    here.execute("DROP TABLE IF EXISTS wide")
    here.execute(
        f"CREATE TABLE item AS SELECT concat('store-', mod(i, 2)) AS vendor, lpad(CAST(i AS {kind}), 6, '0') AS sku,"
        f" CAST(i AS decimal(12, 3)) / 8 AS price, i AS quantity, mod(i, 10) > 0 AS active FROM {rows}"
    )
    here.execute("CREATE TABLE wide AS SELECT item.*, repeat('x', 50000) AS filler FROM item WHERE quantity <= 400")
    yield here
    engine.dispose()


def rows_of(settings: ErpSettings, vendors: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    with open_source(settings).read(vendors) as extract:
        rows = [row for chunk in extract for row in chunk.to_pylist()]
        assert extract.proof().complete
    return rows


def test_all_rows_are_read_exactly_and_counted_again_in_the_same_snapshot(erp):
    with open_source(erp.read()).read() as extract:
        chunks = list(extract)
        proof = extract.proof()
    assert [chunk.num_rows for chunk in chunks] == [100] * 10
    assert (proof.complete, proof.rows, proof.expected) == (True, 1000, 1000)
    assert "in the same snapshot" in proof.how
    row = chunks[0].to_pylist()[6]
    assert (row["vendor"], row["sku"], row["quantity"]) == ("store-1", "000007", "7")
    assert float(row["price"]) == 0.875
    assert row["active"] in {"true", "1"}


def test_colons_and_percent_signs_in_the_select_mean_themselves(erp):
    sql = "SELECT 'a:b :c 5%s %(x)s' AS sku, 'v' AS vendor, 1 AS price FROM item WHERE quantity = 1 AND 'x' LIKE '%' -- the end;"
    [row] = rows_of(erp.read(f"{sql}\n;\n-- and after it\n"))
    assert row["sku"] == "a:b :c 5%s %(x)s"


def test_what_the_erp_books_while_it_is_read_is_not_seen(erp):
    with open_source(erp.read()).read() as extract:
        chunks = iter(extract)
        seen = [next(chunks)]
        erp.execute("UPDATE item SET price = -1")
        erp.execute("DELETE FROM item WHERE quantity > 500")
        erp.execute("INSERT INTO item (vendor, sku, quantity, active) VALUES ('store-1', 'late', 1, true)")
        seen += chunks
        assert sum(chunk.num_rows for chunk in seen) == 1000
        assert not {price for chunk in seen for price in chunk["price"].to_pylist() if float(price) < 0}
        assert extract.proof().complete


def test_only_the_rows_of_some_vendors_are_asked_for(erp):
    assert {row["vendor"] for row in rows_of(erp.read(), ("store-1",))} == {"store-1"}
    assert open_source(erp.read()).stores() == {"store-0": "store-0", "store-1": "store-1"}


def test_nothing_is_written(erp):
    writing = {
        False: "CREATE FUNCTION sell() RETURNS int LANGUAGE sql VOLATILE AS $$ UPDATE item SET quantity = 0 RETURNING 1 $$",
        True: "CREATE OR REPLACE FUNCTION sell() RETURNS int BEGIN UPDATE item SET quantity = 0; RETURN 1; END",
    }
    erp.execute(writing[erp.is_mariadb])
    with pytest.raises(ConfigurationError, match=r"(?i)read.only"):
        rows_of(erp.read("SELECT vendor, sku, sell() AS quantity FROM wide"))
    assert erp.execute("SELECT min(quantity) FROM item") == [(1,)]


def test_a_select_over_the_timeout_ends_and_names_the_setting(erp):
    pause = "sleep(30)" if erp.is_mariadb else "pg_sleep(30)"
    sql = f"SELECT vendor, sku, {pause} AS price FROM item"
    began = time.monotonic()
    with pytest.raises(IncompleteExtractError, match=r"broke off after 0 rows: .*TIMEOUT_S"):
        rows_of(erp.read(sql, timeout_s=0.2))
    slow_count = f"SELECT count(*) FROM item WHERE {pause} IS NOT NULL"
    with pytest.raises(IncompleteExtractError, match=r"while its rows were counted: .*TIMEOUT_S"):
        rows_of(erp.read(timeout_s=0.5, count_sql=slow_count))
    assert time.monotonic() - began < 30


def test_a_locked_table_is_given_up_after_the_timeout(erp):
    lock = "LOCK TABLES item WRITE" if erp.is_mariadb else "LOCK TABLE item IN ACCESS EXCLUSIVE MODE"
    with erp.engine.begin() as connection:
        connection.exec_driver_sql(lock)
        with pytest.raises(IncompleteExtractError, match=r"broke off after 0 rows: .*TIMEOUT_S"):
            rows_of(erp.read(timeout_s=0.2))
        with pytest.raises(ConfigurationError, match=r"TIMEOUT_S: .* did not answer the SELECT in time"):
            open_source(erp.read(timeout_s=0.2)).check()


def test_a_session_that_is_killed_between_two_chunks_never_becomes_a_short_extract(erp):
    with open_source(erp.read("SELECT * FROM wide", chunk_rows=10)).read() as extract:
        chunks = iter(extract)
        next(chunks)
        for session in erp.sessions():
            erp.end(session)
        with pytest.raises(IncompleteExtractError, match=r"broke off after \d+ rows"):
            list(chunks)
        with pytest.raises(IncompleteExtractError, match="not read to its end"):
            extract.proof()


def test_a_server_that_no_longer_answers_is_hung_up_on(erp):
    """SIGSTOP: the server cannot even run its own timeout."""
    with open_source(erp.read("SELECT * FROM wide", chunk_rows=10, timeout_s=0.2)).read() as extract:
        chunks = iter(extract)
        next(chunks)
        pid = _pid_of_port(erp.engine.url.port) if erp.is_mariadb else erp.sessions()[0]
        os.kill(pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            with pytest.raises(IncompleteExtractError, match=r"broke off after \d+ rows"):
                list(chunks)
            assert time.monotonic() - began < 20
        finally:
            os.kill(pid, signal.SIGCONT)


def test_an_extract_that_is_left_early_ends_its_session_without_reading_the_rest(erp):
    with open_source(erp.read("SELECT * FROM wide", chunk_rows=10)).read() as extract:
        next(iter(extract))
        assert len(erp.sessions()) == 1
    deadline = time.monotonic() + 10
    while erp.sessions():
        assert time.monotonic() < deadline


def test_a_row_that_raises_in_the_middle_is_no_short_extract(erp):
    failing = {
        False: "CREATE FUNCTION broken(n bigint) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1 / (n - 450); END $$",
        True: "CREATE OR REPLACE FUNCTION broken(n bigint) RETURNS int DETERMINISTIC NO SQL"
        " BEGIN IF n = 450 THEN SIGNAL SQLSTATE '22012' SET MYSQL_ERRNO = 1365, MESSAGE_TEXT = 'division by zero'; END IF;"
        " RETURN 1; END",
    }
    erp.execute(failing[erp.is_mariadb])
    why = r"cannot compute a value of a row for the SELECT after 400 rows: .*division by zero.* Correct the row"
    with pytest.raises(ConfigurationError, match=why) as caught:
        rows_of(erp.read("SELECT vendor, sku, broken(quantity) AS price FROM item"))
    assert not isinstance(caught.value, UnreachableError), "the next run would fail in the same way"


def test_a_wrong_password_or_a_missing_grant_is_reported_as_what_it_is(erp):
    if erp.is_mariadb:
        theirs = erp.engine.url.set(password="wrong")
    else:
        erp.execute("DROP ROLE IF EXISTS grantless")  # roles are the server's, and outlive the database
        erp.execute("CREATE ROLE grantless LOGIN PASSWORD 'canary-password-3'")
        theirs = erp.engine.url.set(username="grantless", password="canary-password-3")
    url = theirs.render_as_string(hide_password=False)
    with pytest.raises(ConfigurationError) as caught:
        open_source(erp.read(url=url)).check()
    assert "canary-password-3" not in str(caught.value)
    assert ("rejected the user or the password" if erp.is_mariadb else "does not allow the SELECT") in str(caught.value)


def test_a_server_that_is_away_may_be_tried_again(erp):
    url = erp.engine.url.set(port=1).render_as_string(hide_password=False)
    with pytest.raises(TryAgainError, match="cannot be reached"):
        rows_of(erp.read(url=url))


@pytest.mark.parametrize("erp", ["mysql+pymysql"], indirect=True)
def test_the_kinds_of_values_that_only_mariadb_has(erp):
    erp.execute("SET STATEMENT sql_mode = '' FOR DROP TABLE IF EXISTS kinds")
    erp.execute(
        "CREATE TABLE kinds (vendor char(9), sku varbinary(20), price double, quantity decimal(9, 3), active bit(1), since date,"
        " title varchar(20) CHARACTER SET latin1)"
    )
    erp.execute(
        "SET STATEMENT sql_mode = '' FOR INSERT INTO kinds VALUES ('s1', 'a', 4.1, 2.5, b'1', '0000-00-00', 'Käse'), ('s1', 'b', 1e22, 0, b'0', NULL, '')"
    )
    found = rows_of(erp.read("SELECT * FROM kinds ORDER BY sku"))
    assert [(row["sku"], row["price"], row["quantity"], row["active"]) for row in found] == [
        ("a", "4.1", "2.500", "1"),
        ("b", "1e+22", "0.000", "0"),
    ]


def _pid_of_port(port: int | None) -> int:
    import psutil

    [pid] = [
        process.pid
        for process in psutil.process_iter(["name", "cmdline"])
        if process.info["name"] == "mariadbd" and f"--port={port}" in (process.info["cmdline"] or [])
    ]
    return pid
