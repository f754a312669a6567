"""Parquet files of the ERP."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfsync.errors import IncompleteExtractError

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


@pytest.fixture
def path(tmp_path):
    """A whole file of three rows."""
    path = tmp_path / "stock.parquet"
    pq.write_table(pa.table({"sku": ["001", "002", "003"], "price": [1.5] * 3}), path)
    return path


@pytest.mark.parametrize("keep", [0, 4, 100, -1])
def test_a_parquet_file_that_was_cut_is_found_out(path, read, keep):
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(IncompleteExtractError, match="no whole Parquet file"):
        read(files=str(path), constants={"vendor": "v"})


def test_a_parquet_file_that_is_damaged_inside_is_found_out(path, read):
    pq.write_table(
        pa.table({"sku": list(map(str, range(50_000))), "price": list(range(50_000))}), path, compression="zstd"
    )
    content = bytearray(path.read_bytes())
    content[1000:5000] = bytes(4000)
    path.write_bytes(content)
    with pytest.raises(IncompleteExtractError, match="no whole Parquet file"):
        read(files=str(path), constants={"vendor": "v"})


def test_a_parquet_file_without_a_row_is_an_error(path, read):
    pq.write_table(pq.read_table(path).slice(0, 0), path)
    with pytest.raises(IncompleteExtractError, match="has no row"):
        read(files=str(path), constants={"vendor": "v"})


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
