"""Logs and exports of a broken or hostile platform take bounded memory and time, and a file that is no result raises an error of one line."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hostile_files
from fuzz_minute import for_a_minute
from hostile_files import EXPORT, LOG, corpus
from shelfsync.catalog.export import parse_export
from shelfsync.catalog.log_reader import parse_log
from shelfsync.errors import DataError
from shelfsync.rows import result_csv
from shelfsync.rows.result_csv import JsonText

PEAK_MB = 700
"""Of a whole process that reads one of these files, the libraries included."""
SECONDS = 20
HEADS = {"log": LOG, "export": EXPORT}
TOUCHING = ["a column name of 60,000 characters", "names that fill the longest header", "100,000 columns"]


def _measured(kind: str, name: str) -> tuple[int, float, str]:
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    result = subprocess.run(
        [sys.executable, hostile_files.__file__, kind],
        input=corpus(HEADS[kind])[name](),
        stdout=subprocess.PIPE,
        check=True,
        env=here,
        cwd=Path(__file__).parents[3],
    )
    peak_mb, seconds, words = result.stdout.decode().split(" ", 2)
    return int(peak_mb), float(seconds), words.strip()


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("name", TOUCHING)
def test_a_small_file_with_a_large_header_takes_bounded_memory_and_time(kind, name):
    peak_mb, seconds, words = _measured(kind, name)
    assert peak_mb < PEAK_MB
    assert seconds < SECONDS
    assert words == "read" if name == TOUCHING[1] else "the first line of" in words


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("name", corpus(LOG))
def test_whatever_the_file_memory_and_time_are_bounded(kind, name):
    peak_mb, seconds, words = _measured(kind, name)
    assert peak_mb < PEAK_MB
    assert seconds < SECONDS
    assert words == "read" or (len(words) < 600 and "\n" not in words)


def test_lines_that_cannot_be_read_are_counted_and_the_first_of_them_kept(monkeypatch):
    monkeypatch.setattr(result_csv, "UNREADABLE_SAMPLES", 3)
    rows = parse_log(io.BytesIO(b"sku,state\nA,success\n" + b"x\n" * 10)).to_pylist()
    assert (rows[0]["sku"], rows[0]["state"]) == ("A", "accepted")
    problems = [row["reason"] for row in rows[1:]]
    assert problems == ["the line has 1 fields instead of 2"] * 3 + ["7 more lines have more or fewer fields than 2"]


def test_where_the_json_of_a_file_grows_too_large_its_lines_count_all_the_same():
    import pyarrow as pa

    text = JsonText(["sku", "x" * 1000], max_bytes=300_000)
    columns = [pa.array(["a"] * 20), pa.array(["b"] * 20)]
    assert "x" * 1000 in text.objects(columns, 20)[0].as_py()
    assert text.is_whole
    assert text.objects([pa.array(["a"] * 2000)] * 2, 2000).to_pylist() == ["{}"] * 2000
    assert not text.is_whole
    assert text.objects(columns, 20).to_pylist() == ["{}"] * 20


FIELDS = st.one_of(
    st.sampled_from(
        ["a", "success", "failed", "1.00", "1", "", '"', '""', "\x00", "\ufeff", "é", "=1+1", "9" * 60, "-0", "nan"]
    ),
    st.text(max_size=12),
)
HEADERS = st.lists(
    st.sampled_from(["sku", "SKU", "state", "status", "errors", "price", "active", "barcode", "x", '"', "", "\x00"]),
    max_size=8,
)


@st.composite
def files(draw):
    """Something near a CSV file, as bytes."""
    header = draw(HEADERS)
    lines = draw(st.lists(st.lists(FIELDS, max_size=9), max_size=12))
    end = draw(st.sampled_from(["\n", "\r\n", "\r", ""]))
    text = (end or "\n").join(",".join(fields) for fields in [header, *lines]) + end
    data = text.encode("utf-8", "surrogatepass")
    cut = draw(st.integers(0, len(data)))
    return data[:cut] + draw(st.binary(max_size=8)) + data[cut:]


def _claim(data: bytes, packed: bool) -> None:
    import gzip

    data = gzip.compress(data, 1) if packed else data
    errors = []
    for read in (parse_log, parse_export):
        try:
            read(io.BytesIO(data))
        except DataError as error:
            errors.append(str(error))
    assert not any("\n" in line for line in errors)


@given(files(), st.booleans())
@example(b"sku,state,price\n\xff,\x00,1e99999\n", False)
@example(b"sku,price\n,,\n\n\n", True)
def test_any_bytes_are_read_or_raise_an_error_of_one_line(data, packed):
    _claim(data, packed)


@pytest.mark.slow
@pytest.mark.proof
def test_any_bytes_are_read_or_raise_for_a_minute():
    assert for_a_minute(test_any_bytes_are_read_or_raise_an_error_of_one_line) > 0
