"""Addresses, several files, Parquet, control files: what CSV and Parquet share."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfsync.erp import address
from shelfsync.erp.open import open_source
from shelfsync.errors import ConfigurationError, IncompleteExtractError
from shelfsync.settings import ErpSettings

strings = st.text(st.characters(exclude_categories=("Cs",)))


def nullable(values, kind):
    return st.lists(st.none() | values, min_size=12, max_size=12).map(lambda column: pa.array(column, kind))


columns = {
    "vendor": nullable(strings, pa.string()),
    "sku": nullable(st.integers(0, 2**64 - 1), pa.uint64()),
    "barcode": nullable(strings, pa.large_string()),
    "price": nullable(st.decimals(-(10**9), 10**9, places=4), pa.decimal128(20, 4)),
    "quantity": nullable(st.floats(allow_nan=False), pa.float64()),
    "active": nullable(st.booleans(), pa.bool_()),
    "max_sales_quantity": nullable(st.integers(-(2**15), 2**15 - 1), pa.int16()),
}


def exact(value):
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.slow
@settings(deadline=None)
@given(table=st.fixed_dictionaries(columns).map(pa.table), chunk_rows=st.integers(1, 20), group_rows=st.integers(1, 20))
def test_any_value_in_parquet_is_read_as_its_exact_text_and_complete(read, table, chunk_rows, group_rows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "erp.parquet"
        pq.write_table(table, path, row_group_size=group_rows)
        reading = read(files=str(path), chunk_rows=chunk_rows)
    expected = [{name: exact(value) for name, value in row.items()} for row in table.to_pylist()]
    assert [{name: row[name] for name in columns} for row in reading.rows] == expected
    assert (reading.proof.complete, reading.proof.rows, reading.proof.expected) == (True, 12, 12)


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


@pytest.mark.parametrize("files", ["{erp}/001", "{erp}/{vendor}/*.parquet", "{erp}/00?/stock.parquet"])
def test_parts_of_which_one_may_be_missing_prove_nothing_without_a_control_file(erp, read, files):
    settings = {"files": files.replace("{erp}", str(erp)), "constants": {} if "{vendor}" in files else {"vendor": "v"}}
    alone = read(**settings)
    assert not alone.proof.complete
    assert "one may be missing" in alone.proof.how
    (erp / "all.count").write_text(str(len(alone.rows)))
    assert read(**settings, control_file=f"{erp}/all.count").proof.complete


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


def test_a_control_file_a_vendor_finds_the_vendor_that_is_short_and_the_one_that_is_missing(erp, read):
    settings = {"files": f"{erp}/stock-{{vendor}}.csv", "control_file": f"{erp}/stock-{{vendor}}.count"}
    assert read(**settings).proof.complete
    (erp / "stock-store-002.count").write_text("4")
    (erp / "stock-store-001.count").write_text("1")
    with pytest.raises(IncompleteExtractError, match=r"3 rows of vendor 'store-001' .* gives 1"):
        read(**settings)
    (erp / "stock-store-001.count").write_text("3")
    (erp / "stock-store-002.csv").unlink()
    with open_source(ErpSettings(**settings)).read() as extract:
        list(extract)
        assert extract.proof().complete
    [(vendor, why)] = extract.failed.items()
    assert vendor == "store-002"
    assert "'store-002' is in SHELFSYNC_ERP__CONTROL_FILE but not in SHELFSYNC_ERP__FILES" in why


def test_control_files_without_a_number_are_named(erp):
    settings = {"files": f"{erp}/stock-{{vendor}}.csv", "control_file": f"{erp}/stock-{{vendor}}.count"}
    for store in ("001", "002"):
        (erp / f"stock-store-{store}.count").write_text("three")
    error = error_of(**settings)
    assert error.setting == "SHELFSYNC_ERP__CONTROL_FILE"
    assert "'three'" in error.problem
    assert error_of(**{**settings, "control_file": f"{erp}/absent"}).setting == "SHELFSYNC_ERP__CONTROL_FILE"
    assert (
        error_of(files=f"{erp}/stock-store-001.csv", control_file="{vendor}").setting == "SHELFSYNC_ERP__CONTROL_FILE"
    )


def test_a_file_that_changes_while_it_is_read_is_not_believed(erp):
    settings = ErpSettings(files=f"{erp}/stock-store-001.csv", chunk_rows=1, constants={"vendor": "v"})
    with open_source(settings).read() as extract:
        chunks = iter(extract)
        next(chunks)
        (erp / "stock-store-001.csv").write_text("sku,price\n" + "1,1\n" * 3)
        with pytest.raises(IncompleteExtractError, match="changed while it was read"):
            list(chunks)


@pytest.mark.parametrize("keep", [0, 4, 100, -1])
def test_a_parquet_file_that_was_cut_is_found_out(erp, read, keep):
    path = erp / "001" / "stock.parquet"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(IncompleteExtractError, match="no whole Parquet file"):
        read(files=f"{erp}/001/*.parquet", constants={"vendor": "v"})


def test_a_parquet_file_that_is_damaged_inside_is_found_out(erp, read):
    path = erp / "001" / "big.parquet"
    pq.write_table(
        pa.table({"sku": list(map(str, range(50_000))), "price": list(range(50_000))}), path, compression="zstd"
    )
    content = bytearray(path.read_bytes())
    content[1000:5000] = bytes(4000)
    path.write_bytes(content)
    with pytest.raises(IncompleteExtractError, match="no whole Parquet file"):
        read(files=str(path), constants={"vendor": "v"})


def test_a_parquet_file_without_a_row_is_an_error(erp, read):
    pq.write_table(table(0), erp / "001" / "stock.parquet")
    with pytest.raises(IncompleteExtractError, match="has no row"):
        read(files=f"{erp}/001/stock.parquet", constants={"vendor": "v"})


def test_a_hook_sees_every_column_of_a_parquet_file_with_exact_types(tmp_path, read):
    hook = tmp_path / "hook.py"
    hook.write_text("def map(frame):\n    frame['quantity'] = frame['pieces'] + frame['sku']\n    return frame\n")
    pq.write_table(
        pa.table({"sku": [2**60 + 1, None], "price": [1, 2], "pieces": [1, None], "x": [1, 1]}),
        tmp_path / "erp.parquet",
    )
    reading = read(files=str(tmp_path / "erp.parquet"), constants={"vendor": "v"}, mapping=f"{hook}:map")
    assert [(row["vendor"], row["sku"], row["quantity"]) for row in reading.rows] == [
        ("v", str(2**60 + 1), str(2**60 + 2)),
        ("v", None, None),
    ]


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


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.csv", ["a.csv"]),
        ("?.csv", ["a.csv"]),
        ("[!b]*.csv", ["a.csv"]),
        ("{vendor}.csv", ["a.csv"]),
        ("{vendor}/*.csv", ["v/a.csv"]),
        ("*/*.csv", ["v/a.csv"]),
        ("**/*.csv", ["v/a.csv"]),
        (".*.csv", [".a.csv"]),
        (".new/*.csv", [".new/a.csv"]),
        ("v/.a.csv", ["v/.a.csv"]),
    ],
)
def test_a_pattern_finds_no_file_that_is_still_written_under_a_name_with_a_dot(tmp_path, pattern, expected):
    root = tmp_path / ".home"  # a folder that the address names is not hidden
    for place in (root, root / "v", root / ".new"):
        place.mkdir(parents=True)
        (place / "a.csv").touch()
        (place / ".a.csv").touch()
    found = [file.path.removeprefix(f"{root}/") for file in address.find(f"{root}/{pattern}", endings=())]
    assert found == expected


@pytest.mark.parametrize(
    "touch",
    [
        lambda path: path.chmod(0o600),
        lambda path: path.with_name("link").hardlink_to(path),
        lambda path: (
            path.with_name("copy").write_bytes(path.read_bytes()),
            shutil.copystat(path, path.with_name("copy")),
            path.with_name("copy").replace(path),
        ),
    ],
    ids=["chmod", "hard link", "copy of a backup"],
)
def test_what_leaves_the_content_alone_leaves_the_mark_of_a_file(tmp_path, touch):
    (tmp_path / "1.csv").write_text("a")
    (before,) = address.find(f"{tmp_path}/1.csv", endings=())
    touch(tmp_path / "1.csv")
    (after,) = address.find(f"{tmp_path}/1.csv", endings=())
    assert after.listed == before.listed


@pytest.mark.parametrize("text", ["ab", "b"])
def test_a_file_that_is_written_anew_has_another_mark(tmp_path, text):
    (tmp_path / "1.csv").write_text("a")
    os.utime(tmp_path / "1.csv", ns=(1, 1))
    (before,) = address.find(f"{tmp_path}/1.csv", endings=())
    (tmp_path / "1.csv").write_text(text)
    (after,) = address.find(f"{tmp_path}/1.csv", endings=())
    assert after.listed != before.listed


def test_while_a_file_is_read_its_state_shows_a_write_that_keeps_size_and_time(tmp_path):
    (tmp_path / "1.csv").write_text("a")
    (found,) = address.find(f"{tmp_path}/1.csv", endings=())
    before, time = found.stamp(), (tmp_path / "1.csv").stat().st_mtime_ns
    (tmp_path / "2.csv").write_text("b")
    (tmp_path / "2.csv").replace(tmp_path / "1.csv")
    os.utime(tmp_path / "1.csv", ns=(time, time))
    (again,) = address.find(f"{tmp_path}/1.csv", endings=())
    assert found.stamp() != before
    assert again.listed == found.listed


def test_a_storage_that_reports_no_time_of_change_is_followed_by_what_it_reports():
    with fsspec.open("memory://marks/1.csv", "w") as file:
        file.write("a")
    (before,) = address.find("memory://marks/1.csv", endings=())
    with fsspec.open("memory://marks/1.csv", "w") as file:
        file.write("b")
    (after,) = address.find("memory://marks/1.csv", endings=())
    assert after.listed != before.listed
