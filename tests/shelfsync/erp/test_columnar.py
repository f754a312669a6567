"""Rows by COPY have the texts that rows by cursor have, whatever their type; and a COPY ends as a cursor does."""

from __future__ import annotations

import json
import time

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shelfsync.erp import columnar
from shelfsync.erp.session import Session
from shelfsync.erp.text import texts
from shelfsync.errors import ConfigurationError, IncompleteExtractError

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=12)
SIGNS = st.text(st.sampled_from('",\n\r\\ \t.;nN'), max_size=6)
DIGITS = st.from_regex(r"-?[0-9]{1,30}(\.[0-9]{1,30})?", fullmatch=True)
TYPES = {
    "text": st.one_of(TEXTS, SIGNS),
    "varchar": SIGNS,
    "character(5)": st.sampled_from(("", "a", "a b", '"')),
    "name": st.sampled_from(("", "x", "A,b")),
    "citext_like": st.sampled_from(("one", "two, 2", "")),
    "smallint": st.integers(-(2**15), 2**15 - 1).map(str),
    "integer": st.integers(-(2**31), 2**31 - 1).map(str),
    "bigint": st.integers(-(2**63), 2**63 - 1).map(str),
    "oid": st.integers(0, 2**32 - 1).map(str),
    "numeric": st.one_of(DIGITS, st.sampled_from(("NaN", "Infinity", "-Infinity", "1e-10002", "1e10002", "0.00", "1e20"))),
    "numeric(12,4)": st.decimals(-(10**7), 10**7, places=4).map(str),
    "boolean": st.sampled_from(("true", "false")),
    "real": st.floats(width=32).map(str),
    "double precision": st.floats().map(str),
    "uuid": st.uuids().map(str),
    "bytea": st.binary(max_size=6).map(lambda value: "\\x" + value.hex()),
    "date": st.sampled_from(("2026-02-03", "infinity", "20000-01-01", "0044-03-15 BC")),
    "time": st.sampled_from(("01:02:03", "24:00:00")),
    "timestamp": st.sampled_from(("2026-02-03 04:05:06.5", "-infinity")),
    "timestamptz": st.sampled_from(("2026-02-03 04:05:06+02", "infinity")),
    "interval": st.sampled_from(("1 year 2 days", "-3 hours")),
    "jsonb": st.dictionaries(st.just("a"), st.one_of(st.integers(), st.booleans(), st.none())).map(json.dumps),
    "integer[]": st.sampled_from(("{}", "{1,NULL,3}")),
    "text[]": st.sampled_from(('{"a,b",""}', "{NULL}")),
    "int4range": st.sampled_from(("[1,5)", "empty")),
    "inet": st.sampled_from(("10.0.0.1", "::1/64")),
    "money": st.just("1.50"),
}  # fmt: skip


@pytest.fixture
def typed(erp_engine):
    """A table `typed` with a column of each type, emptied before each use."""
    columns = ", ".join(f"c{place} {name}" for place, name in enumerate(TYPES))
    with erp_engine.begin() as connection:
        connection.exec_driver_sql("CREATE TYPE citext_like AS ENUM ('one', 'two, 2', '')")
        connection.exec_driver_sql(f"CREATE TABLE typed (id integer, {columns})")
    return erp_engine


@pytest.mark.slow
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(*(st.none() | values for values in TYPES.values())), min_size=1, max_size=7),
    chunk_rows=st.integers(1, 4),
)
def test_each_value_by_copy_is_its_exact_text_by_cursor(typed, erp_url, read, rows, chunk_rows):
    places = range(len(TYPES))
    marks = ", ".join(f"CAST(:c{place} AS {name})" for place, name in enumerate(TYPES))
    with typed.begin() as connection:
        connection.exec_driver_sql("TRUNCATE typed")
        insert = sa.text(f"INSERT INTO typed VALUES (:id, {marks})")
        for number, row in enumerate(rows):
            connection.execute(insert, {"id": number, **{f"c{place}": row[place] for place in places}})
    with Session.open(erp_url, 10) as session:
        sql = "SELECT * FROM typed ORDER BY id"
        by_cursor = [
            [texts(column) for column in zip(*part, strict=True)] for _, part in session.stream(sql, chunk_rows)
        ]
        by_copy = [columns for _, columns, _, _ in session.columns_of(sql, chunk_rows, lambda names: names)]
    assert [[column.to_pylist() for column in part] for part in by_copy] == [
        [column.to_pylist() for column in part] for part in by_cursor
    ]


def test_only_the_columns_that_are_needed_are_loaded(typed, erp_url, read):
    with typed.begin() as connection:
        connection.exec_driver_sql("INSERT INTO typed (id, c0) VALUES (1, 'a'), (2, NULL), (3, '')")
    [one, two, three] = read(
        url=erp_url, sql="SELECT *, 'v' AS vendor FROM typed ORDER BY id", columns={"sku": "id", "price": "c0"}
    ).rows
    assert (one["price"], two["price"], three["price"]) == ("a", None, "")


def test_rows_with_long_texts_come_in_smaller_parts(erp_url, erp_engine, read, monkeypatch):
    monkeypatch.setattr(columnar, "PART_BYTES", 10_000)
    sql = "SELECT i AS sku, 'v' AS vendor, 1 AS price, repeat('x', 4000) AS note FROM generate_series(1, 10) AS i"
    reading = read(url=erp_url, sql=sql, columns={"barcode": "note"})
    assert [chunk.num_rows for chunk in reading.chunks] == [3, 3, 3, 1]


def test_a_select_that_takes_longer_than_the_timeout_is_ended_on_the_server_too(erp_url, erp_engine, read):
    slow = "SELECT i AS sku, 'v' AS vendor, 1 AS price, pg_sleep(CASE WHEN i > 5 THEN 20 ELSE 0 END) FROM generate_series(1, 9) AS i"
    with pytest.raises(IncompleteExtractError, match=r"broke off after 5 rows: .*statement timeout.*TIMEOUT_S"):
        read(url=erp_url, sql=slow, timeout_s=0.5, chunk_rows=5)
    asleep = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY%%' AND state = 'active'"
    deadline = time.monotonic() + 10
    with erp_engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while connection.exec_driver_sql(asleep).scalar():
            assert time.monotonic() < deadline


def test_a_database_that_does_not_know_its_encoding_is_read_as_utf8(erp_url, erp_engine, read):
    name = f"{erp_engine.url.database}_ascii"
    with erp_engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C'"
        )
    try:
        url = erp_engine.url.set(database=name).render_as_string(hide_password=False)
        sql = "SELECT 'Café' AS sku, 'v' AS vendor, 1 AS price"
        assert [row["sku"] for row in read(url=url, sql=sql).rows] == ["Café"]
        with pytest.raises(ConfigurationError, match='invalid byte sequence for encoding "UTF8": 0xe9'):
            read(url=url, sql=sql.replace("'Café'", "convert_from('\\x436166e9', 'SQL_ASCII')"))
    finally:
        with erp_engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
