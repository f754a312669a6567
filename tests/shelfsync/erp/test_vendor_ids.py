"""The ERP's store codes and the platform's vendors, where they differ."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from shelfsync.erp.open import open_promotions, open_source
from shelfsync.errors import ConfigurationError
from shelfsync.promotions.schemas import RAW as PROMOTION_RAW
from shelfsync.promotions.schemas import REQUIRED
from shelfsync.settings import ErpSettings, PromotionSettings, Settings

IDS = {"ST01": "store-001", "ST02": "store-002"}


@pytest.fixture
def erp(tmp_path):
    file = tmp_path / "erp.db"
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE item (vendor, sku, price)")
        rows = [("ST01  ", "a"), ("ST02", "a"), (7, "a"), ("ST03", "b"), (None, "c"), ("store-001", "d"), ("ST03", "e")]
        database.executemany("INSERT INTO item VALUES (?, ?, '1.50')", rows)
    return {"url": f"sqlite:///{file}", "sql": "SELECT * FROM item", "chunk_rows": 3}


def test_each_store_has_the_platforms_id_and_stores_without_one_are_left_out(erp, read):
    reading = read(**erp, vendor_ids=IDS | {"7": "seven"})
    assert [(row["vendor"], row["sku"]) for row in reading.rows] == [
        ("store-001", "a"),
        ("store-002", "a"),
        ("seven", "a"),
        (None, "c"),
    ]
    assert reading.proof.complete
    assert reading.proof.rows == 7


def test_what_was_left_out_is_counted_by_store(erp):
    with open_source(ErpSettings(**erp, vendor_ids=IDS)).read() as extract:
        list(extract)
        assert extract.left_out == {"7": 1, "ST03": 2, "store-001": 1}


ODD = [
    "ST01\u00a0",
    "\u200bST01",
    "'ST01",
    '="ST01"',
    "ST0\uff11",
    "S\u0422" + "01",
    "ST01\u202c",
    "\ufeffST01",
]


@pytest.mark.parametrize("odd", ODD)
def test_a_row_whose_store_only_looks_like_a_named_one_keeps_its_id_so_that_it_is_quarantined(erp, read, odd):
    with contextlib.closing(sqlite3.connect(erp["url"].removeprefix("sqlite:///"))) as database, database:
        database.execute("INSERT INTO item VALUES (?, 'odd', '1.50')", (odd,))
    for wanted in ((), ("store-001",)):
        extract = open_source(ErpSettings(**erp, vendor_ids=IDS)).read(wanted)
        with extract:
            found = [(row["vendor"], row["sku"]) for chunk in extract for row in chunk.to_pylist()]
        assert (odd, "odd") in found
        assert ("store-001", "a") in found
        assert odd not in extract.left_out


def test_an_odd_store_that_looks_like_no_named_one_is_left_out_by_its_name(erp):
    with contextlib.closing(sqlite3.connect(erp["url"].removeprefix("sqlite:///"))) as database, database:
        database.execute("INSERT INTO item VALUES ('ST09\u200b', 'x', '1.50')")
    with open_source(ErpSettings(**erp, vendor_ids=IDS)).read() as extract:
        assert "x" not in {row["sku"] for chunk in extract for row in chunk.to_pylist()}
        assert extract.left_out["ST09\u200b"] == 1


@pytest.mark.parametrize(
    "ids", [{"ST01\u00a0": "store-001"}, {"'ST01": "store-001"}, {"ST01": "store-001\u200b"}, {'="ST01"': "store-001"}]
)
def test_an_odd_id_in_the_settings_is_rejected_with_its_character(erp, ids):
    with pytest.raises(ConfigurationError, match=r"SHELFSYNC_ERP__VENDOR_IDS: the id .* only to a machine: ") as caught:
        open_source(ErpSettings(**erp, vendor_ids=ids))
    assert str(caught.value).isprintable()


def test_without_ids_nothing_is_translated_or_left_out(erp, read):
    assert len(read(**erp).rows) == 7


def test_the_ids_may_be_in_a_csv(erp, read, tmp_path):
    file = tmp_path / "ids.csv"
    file.write_text("﻿erp,platform\n ST01 ,store-001\n\nST02,store-002\n", "utf-8")
    assert [row["vendor"] for row in read(**erp, vendor_ids_file=file).rows] == ["store-001", "store-002", None]


def test_the_name_in_a_files_address_is_the_erps(tmp_path, read):
    for name in ("ST01", "ST02", "ST03"):
        (tmp_path / f"{name}.csv").write_text("sku,price\na,1\n", "utf-8")
    reading = read(files=str(tmp_path / "{vendor}.csv"), vendor_ids=IDS)
    assert [row["vendor"] for row in reading.rows] == ["store-001", "store-002"]


def test_the_ids_come_after_the_hook(erp, read, tmp_path):
    hook = tmp_path / "hook.py"
    hook.write_text("def map(frame):\n    frame['vendor'] = 'ST02'\n    return frame\n", "utf-8")
    assert {row["vendor"] for row in read(**erp, vendor_ids=IDS, mapping=f"{hook}:map").rows} == {"store-002"}


def test_promotions_use_the_ids_of_the_erp_and_all_vendors_stay_all(erp):
    url = erp["url"]
    sql = "SELECT vendor, sku, 1 AS price FROM item UNION ALL SELECT '*', 'z', 1"
    promotions = PromotionSettings(url=url, sql=sql, constants=dict.fromkeys(set(REQUIRED) - {"vendor", "sku"}, "x"))
    settings = Settings(erp=ErpSettings(**erp, vendor_ids=IDS), promotions=promotions, database_url="x://")
    with open_promotions(settings, PROMOTION_RAW, REQUIRED).read() as extract:
        vendors = [value for chunk in extract for value in chunk["vendor"].to_pylist()]
    assert sorted(map(str, vendors)) == ["*", "None", "store-001", "store-002"]


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        ({"ST01": "store-001", "ST02": "store-001"}, "'ST01' and 'ST02' are both 'store-001'"),
        ({"ST01": " "}, "'ST01' has no vendor"),
        ({" ": "store-001"}, "a store without a name"),
    ],
)
def test_ids_that_contradict_each_other_are_rejected_before_anything_is_read(erp, ids, problem):
    with pytest.raises(ConfigurationError, match="SHELFSYNC_ERP__VENDOR_IDS") as caught:
        open_source(ErpSettings(**erp, vendor_ids=ids))
    assert problem in caught.value.problem


@pytest.mark.parametrize(("owner", "named"), [("erp", "SHELFSYNC_ERP__"), ("promotions", "SHELFSYNC_PROMOTIONS__")])
def test_a_wrong_id_of_promotions_names_the_setting_that_has_it(erp, owner, named):
    wrong = {"vendor_ids": {"ST01": " "}}
    source = {"url": erp["url"], "sql": "SELECT 1"}
    settings = Settings(
        erp=ErpSettings(**erp, **(wrong if owner == "erp" else {})),
        promotions=PromotionSettings(**source, **(wrong if owner == "promotions" else {})),
        database_url="x://",
    )
    with pytest.raises(ConfigurationError) as caught:
        open_promotions(settings, PROMOTION_RAW, REQUIRED)
    assert caught.value.setting == f"{named}VENDOR_IDS"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ST01;store-001\n", "line 1"),
        ("erp,platform\nST01\n", "line 2"),
        ("erp,platform\nST01,a,b\n", "line 2"),
        ("erp,platform\nST01,store-001\nST01,store-002\n", "line 3"),
        ("", "it has no line"),
    ],
)
def test_a_csv_that_is_no_list_of_ids_is_rejected_with_its_line(erp, tmp_path, text, problem):
    file = tmp_path / "ids.csv"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigurationError, match="SHELFSYNC_ERP__VENDOR_IDS_FILE") as caught:
        open_source(ErpSettings(**erp, vendor_ids_file=file))
    assert problem in caught.value.problem


def test_a_file_that_is_not_there_and_both_settings_at_once_are_rejected(erp, tmp_path):
    with pytest.raises(ConfigurationError, match="cannot be read"):
        open_source(ErpSettings(**erp, vendor_ids_file=tmp_path / "none.csv"))
    with pytest.raises(ConfigurationError, match="Keep one of the two"):
        open_source(ErpSettings(**erp, vendor_ids=IDS, vendor_ids_file=tmp_path / "none.csv"))
