"""The number of rows by a second count, or by one of the user's own."""

from __future__ import annotations

import pytest

from shelfsync.errors import ConfigurationError, IncompleteExtractError


def test_rows_that_the_select_does_not_return_again_are_no_proof(thousand_rows, read):
    of_before = "coalesce(nullif(current_setting('erp.looked_at', true), ''), '0')::int"
    sql = f"SELECT * FROM item WHERE set_config('erp.looked_at', ({of_before} + 1)::text, true)::int <= 1500"
    with pytest.raises(IncompleteExtractError, match=r"1000 rows were read, and a second count .* gives 500"):
        read(**{**thousand_rows, "sql": sql})


def test_a_count_of_ones_own_is_the_proof_where_it_is_named(thousand_rows, read):
    reading = read(**thousand_rows, count_sql="SELECT count(*) FROM item;")
    assert reading.proof.complete
    assert "COUNT_SQL" in reading.proof.how
    with pytest.raises(
        IncompleteExtractError, match=r"1000 rows were read, and the number that SHELFSYNC_ERP__COUNT_SQL .* gives 1001"
    ):
        read(**thousand_rows, count_sql="SELECT count(*) + 1 FROM item")
    with pytest.raises(ConfigurationError, match="COUNT_SQL: it returned 'many'"):
        read(**thousand_rows, count_sql="SELECT 'many'")


def test_a_join_that_loses_rows_is_found_by_a_count_of_ones_own(thousand_rows, erp_engine, read):
    with erp_engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE store AS SELECT 'store-0' AS code")
    joined = {**thousand_rows, "sql": "SELECT item.* FROM item JOIN store ON code = vendor"}
    assert read(**joined).proof.complete
    with pytest.raises(IncompleteExtractError, match="500 rows were read"):
        read(**joined, count_sql="SELECT count(*) FROM item")
