"""Reading some vendors alone: the ERP is asked for no more, and the proof is about them."""

from __future__ import annotations

import contextlib
import sqlite3
from decimal import Decimal

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shelfsync.erp.open import open_source
from shelfsync.errors import DataError, IncompleteExtractError
from shelfsync.settings import ErpSettings

ROWS = [
    ("ST01", "a"),
    ("ST01  ", "b"),
    ("ST02", "a"),
    ("\tST01", "c"),
    (None, "n"),
    ("st01", "d"),
    ("o'k", "e"),
    ("5%", "f"),
]


@pytest.fixture
def sqlite(tmp_path):
    file = tmp_path / "erp.db"
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE item (vendor, sku, price)")
        database.executemany("INSERT INTO item VALUES (?, ?, 1.5)", [*ROWS, (7, "g")])
    return {"url": f"sqlite:///{file}", "sql": "SELECT * FROM item -- all"}


@pytest.fixture
def postgres_erp(erp_url):
    with psycopg.connect(erp_url.replace("+psycopg", "")) as connection:
        connection.execute(
            'CREATE TABLE item ("Store No" text, sku text, price numeric, chain char(8), number numeric)'
        )
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO item VALUES (%s, %s, 1.5, %s, %s)", [(*row, row[0], len(row[0] or "")) for row in ROWS]
            )
    return {"url": erp_url, "sql": "SELECT * FROM item"}


def rows(extract):
    return sorted((row["vendor"] or "", row["sku"]) for chunk in extract for row in chunk.to_pylist())


def read_some(settings, *vendors):
    with open_source(ErpSettings(**settings)).read(vendors) as extract:
        return rows(extract), extract.proof()


def test_only_rows_of_the_vendor_come_however_the_erp_writes_it(sqlite):
    found, proof = read_some(sqlite, "ST01")
    assert found == [
        ("\tST01", "c"),
        ("ST01", "a"),
        ("ST01  ", "b"),
        ("st01", "d"),
    ]  # a database may take the last for the same
    assert (proof.complete, proof.rows, proof.expected) == (True, 4, 4)
    assert read_some(sqlite, "7", "o'k")[0] == [("7", "g"), ("o'k", "e")]


@pytest.mark.parametrize(
    ("columns", "vendor", "expected"),
    [
        ({"vendor": "Store No"}, "ST02", [("ST02", "a")]),
        ({"vendor": "chain"}, "ST02", [("ST02    ", "a")]),
        ({"vendor": "number"}, "3", [("3", "e")]),
    ],
)
def test_the_vendors_column_may_have_any_name_and_type(postgres_erp, columns, vendor, expected):
    found, proof = read_some({**postgres_erp, "columns": columns}, vendor)
    assert found == expected
    assert (proof.complete, proof.rows, proof.expected) == (True, len(expected), len(expected))


def test_a_name_that_no_statement_can_hold_safely_is_read_with_all_others(postgres_erp):
    found, proof = read_some({**postgres_erp, "columns": {"vendor": "Store No"}}, "5%")
    assert ("5%", "f") in found
    assert proof.rows == len(ROWS)


def test_a_count_of_ones_own_is_about_the_whole_erp_so_the_whole_is_read(sqlite):
    found, proof = read_some({**sqlite, "count_sql": "SELECT count(*) FROM item"}, "ST01")
    assert len(found) == proof.rows == proof.expected == len(ROWS) + 1


def test_a_hook_may_name_the_vendor_so_the_whole_is_read(sqlite, tmp_path):
    hook = tmp_path / "hook.py"
    hook.write_text("def map(frame):\n    frame['vendor'] = 'all-one'\n    return frame\n", "utf-8")
    assert len(read_some({**sqlite, "mapping": f"{hook}:map"}, "all-one")[0]) == len(ROWS) + 1


def test_the_platforms_ids_are_asked_for_under_the_erps(sqlite):
    found, proof = read_some({**sqlite, "vendor_ids": {"ST01": "store-001", "ST02": "store-002"}}, "store-001")
    assert found == [("store-001", "a"), ("store-001", "b"), ("store-001", "c")]
    assert proof.rows == 4  # st01 came too, and is left out


def test_a_vendor_that_the_erp_does_not_have_is_named(sqlite):
    with pytest.raises(DataError, match=r"none of the vendors asked for \(ST09\) is among the 9 vendors of the ERP"):
        read_some(sqlite, "ST09")


def test_of_files_by_vendor_only_those_asked_for_are_opened(tmp_path):
    for name in ("ST01", "ST02"):
        pq.write_table(pa.table({"sku": ["a"], "price": [Decimal("1.5")]}), tmp_path / f"{name}.parquet")
    (tmp_path / "ST03.parquet").write_bytes(b"half a fi")
    address = {"files": str(tmp_path / "{vendor}.parquet")}
    found, proof = read_some(address, "ST01")
    assert found == [("ST01", "a")]
    assert (proof.complete, proof.rows) == (True, 1)
    with pytest.raises(IncompleteExtractError, match="ST03"):
        read_some(address, "ST03")
    with pytest.raises(DataError, match="none of the vendors asked for"):
        read_some(address, "ST04")


def test_of_control_files_by_vendor_only_theirs_count(tmp_path):
    for name, number in (("ST01", 1), ("ST02", 5)):
        (tmp_path / f"{name}.csv").write_text("sku,price\na,1\n", "utf-8")
        (tmp_path / f"{name}.count").write_text(str(number), "utf-8")
    address = {"files": str(tmp_path / "{vendor}.csv"), "control_file": str(tmp_path / "{vendor}.count")}
    ids = {"vendor_ids": {"ST01": "store-001", "ST02": "store-002"}}
    assert read_some(address, "ST01")[1].complete
    assert read_some(address | ids, "store-001")[0] == [("store-001", "a")]
    with pytest.raises(IncompleteExtractError, match="ST02"):
        read_some(address, "ST02")


def test_one_control_file_for_all_is_about_all(tmp_path):
    for name in ("ST01", "ST02"):
        (tmp_path / f"{name}.csv").write_text("sku,price\na,1\n", "utf-8")
    (tmp_path / "all.count").write_text("2", "utf-8")
    address = {"files": str(tmp_path / "{vendor}.csv"), "control_file": str(tmp_path / "all.count")}
    assert read_some(address, "ST01")[1].rows == 2


def test_a_database_that_ignores_case_leaves_no_row_out(tmp_path):
    file = tmp_path / "erp.db"
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE item (vendor TEXT COLLATE NOCASE, sku, price)")
        database.executemany("INSERT INTO item VALUES (?, ?, 1.5)", [("st01", "a"), ("ST01", "b"), (" ST01", "c")])
    source = {"url": f"sqlite:///{file}", "sql": "SELECT * FROM item"}
    assert read_some(source, "ST01")[0] == [(" ST01", "c"), ("ST01", "b"), ("st01", "a")]
    found, _ = read_some({**source, "vendor_ids": {"ST01": "store-001"}}, "store-001")
    assert found == [("store-001", "b"), ("store-001", "c")]


@pytest.mark.parametrize("ids", [{}, {"ST01": "store-001"}])
def test_the_vendors_of_the_erp_are_known_without_reading_it(sqlite, tmp_path, ids):
    names = ["5%", "7", "ST01", "ST02", "o'k", "st01"]
    left_out = dict.fromkeys(name for name in names if name != "ST01")
    expected = {"ST01": "store-001", **left_out} if ids else {name: name for name in names}
    found = open_source(ErpSettings(**sqlite, vendor_ids=ids)).stores()
    assert list(found.items()) == list(expected.items())
    for name in ("ST01", "ST02"):
        (tmp_path / f"{name}.csv").write_text("broken", "utf-8")
    files = open_source(ErpSettings(files=str(tmp_path / "{vendor}.csv"), vendor_ids=ids)).stores()
    assert files == ({"ST01": "store-001", "ST02": None} if ids else {"ST01": "ST01", "ST02": "ST02"})


def test_vendors_that_only_the_rows_know_are_read_from_them(sqlite, tmp_path):
    hook = tmp_path / "hook.py"
    hook.write_text("def map(frame):\n    frame['vendor'] = 'x-' + frame['sku']\n    return frame\n", "utf-8")
    assert "x-a" in open_source(ErpSettings(**sqlite, mapping=f"{hook}:map")).stores().values()
    assert open_source(ErpSettings(**sqlite, constants={"vendor": "one"})).stores() == {"one": "one"}
    (tmp_path / "all.csv").write_text("vendor,sku,price\nb,1,1\na,1,1\nb,2,1\n,3,1\n", "utf-8")
    one_file = str(tmp_path / "all.csv")
    assert open_source(ErpSettings(files=one_file)).stores() == {"a": "a", "b": "b"}
    assert open_source(ErpSettings(files=one_file, vendor_ids={"b": "store-b"})).stores() == {"b": "store-b", "a": None}


@pytest.mark.parametrize("odd", ["ST02\u00a0", "ST02\u200b", "'ST02", '="ST02"', "ST0\uff12"])
def test_a_reading_of_one_vendor_has_the_rows_whose_store_only_looks_like_it(sqlite, tmp_path, odd):
    with contextlib.closing(sqlite3.connect(tmp_path / "erp.db")) as database, database:
        database.execute("INSERT INTO item VALUES (?, 'odd', 1.5)", (odd,))
    found, proof = read_some(sqlite, "ST02")
    assert {("ST02", "a"), (odd, "odd")} <= set(found)
    assert proof.complete


def test_a_reading_of_one_vendor_has_the_file_whose_name_only_looks_like_its_own(tmp_path):
    for name, sku in (("ST02", "a"), ("ST02\u200b", "odd"), ("ST03", "b")):
        pq.write_table(pa.table({"sku": [sku], "price": ["1.50"]}), tmp_path / f"{name}.parquet")
    found, _ = read_some({"files": f"{tmp_path}/{{vendor}}.parquet"}, "ST02")
    assert found == [("ST02", "a"), ("ST02\u200b", "odd")]
