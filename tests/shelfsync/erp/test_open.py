"""Whatever is wrong with the source of the promotions, each message names their own settings, or the catalog's that they take."""

from __future__ import annotations

import logging
import re

import pyarrow as pa
import pytest

from shelfsync.erp.open import open_promotions, promotion_settings_in_errors
from shelfsync.errors import ShelfsyncError
from shelfsync.exit_codes import ExitCode
from shelfsync.promotions.schemas import RAW, REQUIRED
from shelfsync.settings import ErpSettings, PromotionSettings, Settings

GOOD = "campaign,vendor,sku,price,name,start_time,end_time\np,store-001,a,1.50,n,2026-01-01,2026-02-01\n"
FILES = {
    "another encoding": ("p.csv", GOOD.encode(), {"csv_encoding": "utf-16"}, "CSV_ENCODING"),
    "UTF-16": ("p.csv", GOOD.encode("utf-16"), {}, "CSV_ENCODING"),
    "another delimiter": ("p.csv", GOOD.replace(",", ";").encode(), {}, "CSV_DELIMITER"),
    "an odd delimiter": ("p.csv", GOOD.encode(), {"csv_delimiter": "ab"}, "CSV_DELIMITER"),
    "a title above": ("p.csv", f"Title\n{GOOD}".encode(), {}, "HEADER_ROW"),
    "a column that is missing": ("p.csv", GOOD.encode(), {"columns": {"sku": "article"}}, "COLUMNS"),
    "a column and a constant": (
        "p.csv",
        GOOD.encode(),
        {"columns": {"sku": "a"}, "constants": {"sku": "a"}},
        "CONSTANTS",
    ),
    "a hook that is missing": ("p.csv", GOOD.encode(), {"mapping": "none.such:hook"}, "MAPPING"),
    "an unknown ending": ("p.what", GOOD.encode(), {}, "FILE_FORMAT"),
    "another kind of file": ("p.csv", b"SQLite format 3\0" + bytes(100), {}, "URL"),
    "an archive": ("p.csv", b"PK\x03\x04" + bytes(100), {}, ""),
    "no workbook": ("p.xlsx", b"no", {"sheet": "x"}, ""),
    "no file": (None, b"", {}, "FILES"),
    "a number that is none": ("p.csv", GOOD.encode(), {"control_file": "p.csv"}, "CONTROL_FILE"),
    "another number": ("p.csv", GOOD.encode(), {"control_file": "n.txt"}, "CONTROL_FILE"),
    "marks that are one": ("p.csv", GOOD.encode(), {"decimal_mark": ",", "thousands_mark": ","}, "THOUSANDS_MARK"),
    "no ids": ("p.csv", GOOD.encode(), {"vendor_ids": {"ST01": "store-009"}}, "VENDOR_IDS"),
    "a wrong place": ("p.txt", b"abc\n", {"fixed_width": {"sku": "9-1"}}, "FIXED_WIDTH"),
}
DATABASES = {
    "no statement": ({}, "SQL"),
    "a wrong statement": ({"sql": "SELECT nothing FROM nowhere"}, "SQL"),
    "a file that is missing": ({"sql_file": "none.sql"}, "SQL_FILE"),
    "a wrong count": ({"sql": "SELECT 1 AS sku", "count_sql": "SELECT nothing"}, ""),
    "two sources": ({"sql": "SELECT 1", "files": "x.csv"}, "SOURCE"),
}


def read(promotions, catalog):
    """The message that reading the promotions ends with; it names each of the two sources' settings."""
    settings = Settings(erp=catalog, promotions=promotions, database_url="postgresql://x/x")
    with (
        pytest.raises(ShelfsyncError) as caught,
        promotion_settings_in_errors(settings),
        open_promotions(settings, RAW, REQUIRED).read() as extract,
    ):
        pa.concat_tables(extract)
    texts = [str(caught.value), *(str(one) for one in vars(caught.value).values())]
    return caught.value, " ".join(texts)


@pytest.mark.parametrize(("name", "content", "more", "setting"), FILES.values(), ids=FILES)
def test_an_error_of_files_names_the_promotions_settings(tmp_path, monkeypatch, name, content, more, setting):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "n.txt").write_text("99")
    if name is not None:
        (tmp_path / name).write_bytes(content)
    promotions = PromotionSettings(files=name or "none.csv", **more)
    _, text = read(promotions, ErpSettings(url="sqlite://", sql="SELECT 1"))
    assert f"SHELFSYNC_PROMOTIONS__{setting}" in text or not setting, text
    assert "SHELFSYNC_ERP__" not in text


@pytest.mark.parametrize(("own", "setting"), DATABASES.values(), ids=DATABASES)
def test_an_error_of_a_database_names_the_promotions_settings(erp_url, own, setting):
    own = {"url": erp_url, "sql": "" if "sql_file" not in own else None} | own
    _, text = read(PromotionSettings(**{key: value for key, value in own.items() if value is not None}), ErpSettings())
    assert f"SHELFSYNC_PROMOTIONS__{setting}" in text, text
    assert "SHELFSYNC_ERP__" not in text


@pytest.mark.parametrize("own", [True, False])
def test_the_database_that_the_promotions_take_from_the_catalog_keeps_its_name(own):
    away = "postgresql+psycopg://x@127.0.0.1:1/none"
    promotions = PromotionSettings(sql="SELECT 1", **({"url": away} if own else {}))
    error, text = read(promotions, ErpSettings(url=away, sql="SELECT 1"))
    assert error.exit_code == ExitCode.TRY_AGAIN
    assert set(re.findall(r"SHELFSYNC_(\w+?)__URL", text)) == {"PROMOTIONS" if own else "ERP"}


def test_what_is_no_error_names_the_promotions_settings_too(tmp_path, caplog):
    for number, content in enumerate((GOOD, "", "article\n1\n"), 1):
        (tmp_path / f"s{number}.csv").write_text(content.replace("vendor,", "").replace("store-001,", ""))
    ids = {"s1": "store-001", "s2": "store-002"}  # s3 is left out
    promotions = PromotionSettings(files=f"{tmp_path}/{{vendor}}.csv", vendor_ids=ids)
    settings = Settings(erp=ErpSettings(), promotions=promotions, database_url="postgresql://x/x")
    with caplog.at_level(logging.INFO), open_promotions(settings, RAW, REQUIRED).read() as extract:
        pa.concat_tables(extract)
    shown = " ".join([extract.proof().how, *extract.failed.values(), caplog.text])
    assert extract.failed.keys() == {"store-002"}
    assert "SHELFSYNC_PROMOTIONS__CONTROL_FILE" in shown
    assert "SHELFSYNC_PROMOTIONS__VENDOR_IDS leaves out" in shown
    assert "SHELFSYNC_ERP__" not in shown
