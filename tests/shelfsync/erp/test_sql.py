from __future__ import annotations

import contextlib
import sqlite3
import tempfile
import time
from decimal import Decimal
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfsync.erp.connection import APPLICATION_NAME
from shelfsync.erp.open import open_source
from shelfsync.errors import ConfigurationError, IncompleteExtractError, TryAgainError
from shelfsync.settings import ErpSettings

cells = st.one_of(
    st.none(),
    st.text(st.characters(exclude_categories=("Cs",))),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
)


def exact(value):
    return value if isinstance(value, str) or value is None else repr(value)


@pytest.mark.slow
@settings(deadline=None)
@given(rows=st.lists(st.tuples(*[cells] * 7), min_size=1, max_size=30), chunk_rows=st.integers(1, 8))
def test_any_value_in_sqlite_is_read_as_its_exact_text_and_complete(read, rows, chunk_rows):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "erp.db"
        with contextlib.closing(sqlite3.connect(file)) as erp, erp:
            erp.execute("CREATE TABLE item (vendor, sku, barcode, price, quantity, active, max_sales_quantity)")
            erp.executemany("INSERT INTO item VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        reading = read(url=f"sqlite:///{file}", sql="SELECT * FROM item ORDER BY rowid", chunk_rows=chunk_rows)
    assert [tuple(row.values())[1:8] for row in reading.rows] == [tuple(map(exact, row)) for row in rows]
    assert reading.proof.complete
    assert reading.proof.rows == reading.proof.expected == len(rows)
    assert max(chunk.num_rows for chunk in reading.chunks) <= chunk_rows


def execute(engine, sql):
    with engine.begin() as connection:
        return connection.exec_driver_sql(sql)


@pytest.mark.parametrize("driver", ["postgresql", "postgresql+psycopg", "postgresql+psycopg2", "postgres"])
def test_postgresql_is_read_by_any_of_its_drivers(read, thousand_rows, driver):
    reading = read(**{**thousand_rows, "url": thousand_rows["url"].replace("postgresql+psycopg", driver)})
    assert len(reading.chunks) == 10
    assert reading.rows[6] == {
        "row_number": 7, "vendor": "store-1", "sku": "000007", "barcode": None, "price": "0.00700000000000000000", "quantity": "7",
        "active": "true", "max_sales_quantity": None,
    }  # fmt: skip
    assert (reading.proof.complete, reading.proof.rows, reading.proof.expected) == (True, 1000, 1000)
    assert "second count" in reading.proof.how


def test_colons_and_percent_signs_in_the_select_mean_themselves(read, thousand_rows):
    sql = "SELECT 'a:b :c 5%s %(x)s'::text AS sku, 'v' AS vendor, 1 AS price WHERE 'x' LIKE '%' -- the end;"
    [row] = read(url=thousand_rows["url"], sql=f"{sql}\n;\n-- and after it\n").rows
    assert row["sku"] == "a:b :c 5%s %(x)s"


def test_what_the_erp_books_while_it_is_read_is_not_seen_and_the_proof_holds(thousand_rows, erp_engine):
    with open_source(ErpSettings(**thousand_rows)).read() as extract:
        chunks = iter(extract)
        seen = [next(chunks)]
        execute(erp_engine, "UPDATE item SET price = 99")
        execute(erp_engine, "DELETE FROM item WHERE quantity > 500")
        execute(erp_engine, "INSERT INTO item (vendor, sku) VALUES ('store-1', 'late')")
        seen += chunks
        assert sum(chunk.num_rows for chunk in seen) == 1000
        assert "99" not in {price for chunk in seen for price in chunk["price"].to_pylist()}
        assert extract.proof().complete


def test_sqlite_is_read_in_one_snapshot_too(tmp_path, read):
    file = tmp_path / "erp.db"
    with contextlib.closing(
        sqlite3.connect(file, autocommit=True) if hasattr(sqlite3, "autocommit") else sqlite3.connect(file)
    ) as erp:
        erp.execute("PRAGMA journal_mode = wal")
        erp.execute("CREATE TABLE item (vendor, sku, price)")
        erp.executemany("INSERT INTO item VALUES ('v', ?, 1)", [(i,) for i in range(100)])
        erp.commit()
        settings = ErpSettings(url=f"sqlite:///{file}", sql="SELECT * FROM item", chunk_rows=10)
        with open_source(settings).read() as extract:
            chunks = iter(extract)
            next(chunks)
            erp.execute("DELETE FROM item WHERE sku >= 50")
            erp.commit()
            assert sum(chunk.num_rows for chunk in chunks) == 90
            assert extract.proof() == extract.proof()
            assert extract.proof().expected == 100
    assert len(read(url=f"sqlite:///{file}", sql="SELECT * FROM item").rows) == 50


def test_a_connection_that_is_cut_between_two_chunks_never_becomes_a_short_extract(wide, erp_engine):
    with open_source(ErpSettings(**wide)).read() as extract:
        chunks = iter(extract)
        next(chunks)
        execute(
            erp_engine,
            f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = '{APPLICATION_NAME}'",
        )
        with pytest.raises(IncompleteExtractError, match=r"broke off after [1-9]00 rows"):
            list(chunks)
        with pytest.raises(IncompleteExtractError, match="not read to its end"):
            extract.proof()


def test_a_proof_before_the_last_chunk_raises(thousand_rows):
    with open_source(ErpSettings(**thousand_rows)).read() as extract:
        next(iter(extract))
        with pytest.raises(IncompleteExtractError, match=r"100 rows so far"):
            extract.proof()


def test_an_extract_that_is_left_early_gives_the_connection_back(wide, erp_engine):
    with open_source(ErpSettings(**wide)).read() as extract:
        next(iter(extract))
    open_ = f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{APPLICATION_NAME}'"
    deadline = time.monotonic() + 10
    with erp_engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while connection.exec_driver_sql(open_).scalar():
            assert time.monotonic() < deadline


def test_an_erp_without_a_row_is_an_error_and_not_an_empty_store(thousand_rows, read):
    with pytest.raises(IncompleteExtractError, match="no row at all"):
        read(**{**thousand_rows, "sql": "SELECT * FROM item WHERE false"})


def test_one_broken_text_in_the_database_is_one_marked_row(tmp_path, read):
    file = tmp_path / "erp.db"
    with contextlib.closing(sqlite3.connect(file)) as erp, erp:
        erp.execute("CREATE TABLE item (vendor, sku, price)")
        erp.execute("INSERT INTO item VALUES ('v', CAST(x'436166E9' AS TEXT), 1), ('v', 'Café', 2)")
    reading = read(url=f"sqlite:///{file}", sql="SELECT * FROM item")
    assert [row["sku"] for row in reading.rows] == ["Caf\ufffd\\xe9", "Café"]


def test_an_error_in_the_middle_of_the_rows_is_no_short_extract(thousand_rows, read):
    with pytest.raises(
        ConfigurationError, match=r"cannot compute a value of a row .* after 400 rows: division by zero"
    ):
        read(**{**thousand_rows, "sql": "SELECT vendor, sku, 1 / (quantity - 450) AS price FROM item"})


def test_columns_constants_and_both_from_one_column(thousand_rows, read):
    settings = {**thousand_rows, "sql": 'SELECT sku AS "Item Code", price AS "PREIS" FROM item WHERE quantity = 5'}
    [row] = read(
        **settings,
        columns={"sku": "Item Code", "barcode": "item code", "price": "preis"},
        constants={"vendor": "store-001", "active": "true"},
    ).rows
    assert row["sku"] == row["barcode"] == "000005"
    assert (row["vendor"], row["active"], row["quantity"]) == ("store-001", "true", None)
    assert Decimal(row["price"]) == Decimal("0.005")


def test_a_server_that_is_away_when_the_reading_begins_may_be_tried_again(tmp_path, read, thousand_rows):
    url = sa.make_url(thousand_rows["url"]).set(port=1).render_as_string(hide_password=False)
    with pytest.raises(TryAgainError, match="cannot be reached"):
        read(**{**thousand_rows, "url": url})
