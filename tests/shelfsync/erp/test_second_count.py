"""The number of rows by a second count, or by one of the user's own."""

from __future__ import annotations

import pytest

from shelfsync.errors import ConfigurationError, IncompleteExtractError


@pytest.fixture
def erp(erp_engine, erp_url):
    """1,000 rows in PostgreSQL."""
    with erp_engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE item AS SELECT 'store-' || mod(i, 2) AS vendor, lpad(i::text, 6, '0') AS sku, i::numeric / 1000 AS price,"
            " i AS quantity, mod(i, 10) > 0 AS active, i::float8 / 3 AS weight FROM generate_series(1, 1000) AS i"
        )
    return {"url": erp_url, "sql": "SELECT * FROM item ORDER BY sku", "chunk_rows": 100}


def execute(engine, sql):
    with engine.begin() as connection:
        return connection.exec_driver_sql(sql)


def test_rows_that_the_select_does_not_return_again_are_no_proof(erp, read):
    sql = "SELECT * FROM item WHERE random() < 0.5"
    with pytest.raises(IncompleteExtractError, match=r"rows were read, and a second count .* gives"):
        read(**{**erp, "sql": sql})


def test_a_count_of_ones_own_is_the_proof_where_it_is_named(erp, read):
    reading = read(**erp, count_sql="SELECT count(*) FROM item;")
    assert reading.proof.complete
    assert "COUNT_SQL" in reading.proof.how
    with pytest.raises(
        IncompleteExtractError, match=r"1000 rows were read, and the number that SHELFSYNC_ERP__COUNT_SQL .* gives 1001"
    ):
        read(**erp, count_sql="SELECT count(*) + 1 FROM item")
    with pytest.raises(ConfigurationError, match="COUNT_SQL: it returned 'many'"):
        read(**erp, count_sql="SELECT 'many'")


def test_a_join_that_loses_rows_is_found_by_a_count_of_ones_own(erp, erp_engine, read):
    execute(erp_engine, "CREATE TABLE store AS SELECT 'store-0' AS code")
    joined = {**erp, "sql": "SELECT item.* FROM item JOIN store ON code = vendor"}
    assert read(**joined).proof.complete
    with pytest.raises(IncompleteExtractError, match="500 rows were read"):
        read(**joined, count_sql="SELECT count(*) FROM item")
