"""Addresses and several files: what all formats share."""

from __future__ import annotations

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shelfsync.erp.open import open_source
from shelfsync.errors import ConfigurationError, IncompleteExtractError
from shelfsync.settings import ErpSettings


def table(rows=3, first=1):
    return pa.table({"sku": [f"{i:03}" for i in range(first, first + rows)], "price": [1.5] * rows})


@pytest.fixture
def erp(tmp_path):
    """A folder with two vendors, in CSV and in Parquet."""
    for number, rows in (("001", 3), ("002", 2)):
        (tmp_path / number).mkdir()
        (tmp_path / f"stock-store-{number}.csv").write_text("sku,price\n" + "".join(f"{i},1.5\n" for i in range(rows)))
        (tmp_path / f"stock-store-{number}.count").write_text(f"{rows}\n")
        pq.write_table(table(rows), tmp_path / number / "stock.parquet")
    return tmp_path


def error_of(**settings):
    with pytest.raises(ConfigurationError) as caught:
        open_source(ErpSettings(**settings)).check()
    return caught.value


def test_the_name_of_a_file_gives_the_vendor_and_rows_are_counted_on(erp, read):
    reading = read(files=f"{erp}/stock-{{vendor}}.csv")
    assert [(row["row_number"], row["vendor"]) for row in reading.rows] == [
        (1, "store-001"), (2, "store-001"), (3, "store-001"), (4, "store-002"), (5, "store-002"),
    ]  # fmt: skip
    reading = read(files=f"{erp}/{{vendor}}/stock.parquet")
    assert [row["vendor"] for row in reading.rows] == ["001"] * 3 + ["002"] * 2
    assert reading.proof.complete


def test_the_vendor_of_the_name_rules_over_a_column_of_the_file(erp, read):
    (erp / "stock-store-003.csv").write_text("vendor,sku,price\nother,1,2\n")
    assert read(files=f"{erp}/stock-{{vendor}}.csv").rows[-1]["vendor"] == "store-003"


def test_a_folder_is_its_files_of_one_format(erp, read):
    (erp / "_SUCCESS").touch()
    (erp / ".hidden.csv").touch()
    (erp / "notes.doc").touch()
    assert len(read(files=str(erp), constants={"vendor": "v"}).rows) == 5
    pq.write_table(table(), erp / "stock.parquet")
    assert error_of(files=str(erp), constants={"vendor": "v"}).setting == "SHELFSYNC_ERP__FILES"
    assert len(read(files=str(erp), file_format="parquet", constants={"vendor": "v"}).rows) == 3


def test_any_storage_that_fsspec_knows_will_do(read):
    memory = fsspec.filesystem("memory")
    for vendor in ("a", "b"):
        memory.pipe(f"/bucket/{vendor}/stock.csv", b"sku,price\n1,2\n")
        memory.pipe(f"/bucket/{vendor}/count", b"1")
    try:
        reading = read(files="memory://bucket/{vendor}/stock.csv", control_file="memory://bucket/{vendor}/count")
    finally:
        memory.rm("/bucket", recursive=True)
    assert [row["vendor"] for row in reading.rows] == ["a", "b"]
    assert reading.proof.complete


def test_a_file_that_changes_while_it_is_read_is_not_believed(erp):
    settings = ErpSettings(files=f"{erp}/stock-store-001.csv", chunk_rows=1, constants={"vendor": "v"})
    with open_source(settings).read() as extract:
        chunks = iter(extract)
        next(chunks)
        (erp / "stock-store-001.csv").write_text("sku,price\n" + "1,1\n" * 3)
        with pytest.raises(IncompleteExtractError, match="changed while it was read"):
            list(chunks)


@pytest.mark.parametrize(
    ("address", "setting", "words"),
    [
        ("/nowhere/erp.csv", "FILES", "no file is at /nowhere/erp.csv"),
        ("/nowhere/{vendor}.csv", "FILES", "no file is at"),
        ("foo://bucket/erp.csv", "FILES", "no address"),
        ("sftp://shop:hunter2@erp.invalid/erp.csv", "FILES", "sftp://***@erp.invalid/erp.csv needs a package"),
        ("{erp}/stock-store-001.count", "FILE_FORMAT", "no known format"),
        ("{erp}/stock-store-001.csv", "COLUMNS", "no column 'vendor'"),
    ],
)
def test_an_address_that_leads_nowhere_is_named_without_its_password(erp, address, setting, words):
    error = error_of(files=address.replace("{erp}", str(erp)))
    assert error.setting == f"SHELFSYNC_ERP__{setting}"
    assert words in str(error)
    assert "hunter2" not in str(error)


def test_two_sources_for_the_vendor_raise(erp):
    files = f"{erp}/stock-{{vendor}}.csv"
    assert error_of(files=files, constants={"vendor": "v"}).setting == "SHELFSYNC_ERP__CONSTANTS"
    assert error_of(files=files, columns={"vendor": "shop"}).setting == "SHELFSYNC_ERP__COLUMNS"
