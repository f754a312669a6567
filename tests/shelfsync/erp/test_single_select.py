"""The operator's statement: from a setting or a file, one SELECT alone, and none that writes."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from shelfsync.erp.single_select import bare, read_statement, selected
from shelfsync.errors import ConfigurationError


def test_the_extract_cannot_write(thousand_rows, erp_engine, read):
    sell = "CREATE FUNCTION sell() RETURNS int LANGUAGE sql VOLATILE AS $$ UPDATE item SET quantity = 0 RETURNING 1 $$"
    with erp_engine.begin() as connection:
        connection.exec_driver_sql(sell)
    with pytest.raises(ConfigurationError, match="read-only"):
        read(**{**thousand_rows, "sql": "SELECT vendor, sku, sell() AS quantity FROM item"})
    with erp_engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT min(quantity) FROM item").scalar() == 1


def test_sqlite_cannot_be_written_either(tmp_path, read):
    file = tmp_path / "erp.db"
    with contextlib.closing(sqlite3.connect(file)) as erp, erp:
        erp.execute("CREATE TABLE item (vendor, sku, price)")
        erp.execute("INSERT INTO item VALUES ('v', 's', 1)")
    with pytest.raises(ConfigurationError, match="readonly"):
        read(url=f"sqlite:///{file}", sql="DELETE FROM item RETURNING vendor, sku, price")


def test_the_select_may_stand_in_a_file(tmp_path, read, thousand_rows):
    file = tmp_path / "extract.sql"
    file.write_text("\ufeff-- what we sell\n" + thousand_rows["sql"] + ";\n", encoding="utf-8")
    assert len(read(url=thousand_rows["url"], sql_file=file).rows) == 1000


def test_a_statement_in_another_encoding_is_one_line(tmp_path):
    (tmp_path / "a.sql").write_bytes("SELECT 'é'".encode("cp1252"))
    with pytest.raises(ConfigurationError, match=r"it is not UTF-8\. Name a readable file, in UTF-8\."):
        read_statement(("SQL", None), ("SQL_FILE", tmp_path / "a.sql"))


@pytest.mark.parametrize(
    "end",
    ["", ";", " ; ;\n", "\n-- all of them", "; -- all of them", "; # all", "; /* all\nof them */", "\n--;\n;\n-- b\n"],
)
def test_semicolons_and_comments_at_the_end_do_not_reach_the_brackets(end):
    assert bare(f"SELECT 1{end}") == "SELECT 1"


@pytest.mark.parametrize("sql", ["SELECT 1 # 2", "SELECT a -- ;\nFROM b", "SELECT 1; SELECT 2"])
def test_what_is_no_end_stays(sql):
    assert bare(sql) == sql


@pytest.mark.parametrize("end", ["", ";", "; -- it's all", "\n-- it's all"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM b WHERE c = '; --'",
        "SELECT a FROM b WHERE c = 'it''s; -- d'",
        "SELECT a FROM b WHERE c = 'x\n-- d'",
        "SELECT a FROM b WHERE c = '; # d'",
        "SELECT a -- what's sold\nFROM b WHERE c = '; /* d */'",
        'SELECT a AS "; --"',
        "SELECT a AS `; --`",
        "SELECT a AS [; --]",
        "SELECT $x$; --$x$",
    ],
)
def test_what_stands_in_a_literal_or_a_quoted_name_is_no_end(sql, end):
    assert bare(sql + end) == sql


def test_a_statement_without_a_word_is_none():
    with pytest.raises(ConfigurationError, match="SQL: it is empty"):
        read_statement(("SQL", " ;\n-- nothing\n"), ("SQL_FILE", None))


def test_a_second_statement_and_one_that_writes_are_no_rows_to_select_from():
    with contextlib.closing(sqlite3.connect(":memory:")) as erp:
        erp.execute("CREATE TABLE item (sku)")
        erp.execute("INSERT INTO item VALUES ('1')")
        assert erp.execute(selected("count(*)", "SELECT sku FROM item -- all", "sku = '1'")).fetchall() == [(1,)]
        for sql in ("SELECT sku FROM item; DELETE FROM item", "DELETE FROM item RETURNING sku", "DROP TABLE item"):
            with pytest.raises((sqlite3.OperationalError, sqlite3.ProgrammingError)):
                erp.execute(selected("*", sql))
