"""A law: a block gives what the reading row by row gives, or leaves the lines to it."""

from __future__ import annotations

import csv
import io
from unittest import mock

import fsspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shelfsync.erp import csvfile
from shelfsync.erp.address import FoundFile
from shelfsync.erp.columns import Layout
from shelfsync.erp.csvfile import CsvFile
from shelfsync.erp.fixed_width import FixedWidth
from shelfsync.erp.plain_block import columns_of
from shelfsync.errors import ShelfsyncError

HEADER = "vendor,sku,price"
CELLS = [
    "",
    "v",
    "vendor",
    "sku",
    "price",
    " SKU ",
    "1.5",
    "Total",
    "3 rows",
    "-",
    "---",
    "===",
    "Käse",
    "a\u2028b",
    "\x0b",
    "\x1a",
    "'",
    "x y",
]
QUOTED = ['"a"', '"a,b"', '"a""b"', '"', '"a', 'a"', '"a"b', '"a\nv,1,2\nb"', '"\r\n"']

cells = st.sampled_from(CELLS)
odd_cells = st.sampled_from([*CELLS, *QUOTED, "\0", "\r"])


def lines(cell, widths):
    return st.lists(st.lists(cell, min_size=min(widths), max_size=max(widths)).map(",".join), max_size=12)


files = st.tuples(
    st.lists(lines(cells, (3, 3)) | lines(odd_cells, (1, 4)), min_size=1, max_size=4).map(
        lambda parts: [line for part in parts for line in part]
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)


def reading(text, *, quoted, rows, by_block):
    """All that a reading gives: the columns, the lines for a person, and whether the end is in doubt; or its error."""
    fs = fsspec.filesystem("memory")
    fs.pipe_file("/erp.csv", text.encode())
    file = CsvFile(FoundFile(fs, "/erp.csv", None), Layout({}, {}), ",", "utf-8", quoted=quoted)
    columns, damaged, no_rows = [[], [], []], [], 0
    with mock.patch.object(csvfile, "columns_of", columns_of if by_block else lambda *_, **__: None):
        try:
            for chunk in file.chunks(rows):
                for whole, part in zip(columns, chunk.columns, strict=True):
                    whole.extend(part if isinstance(part, list) else part.to_pylist())
                damaged += chunk.damaged
                no_rows += chunk.no_rows
        except ShelfsyncError as error:
            return str(error)
    return columns, damaged, no_rows, file.unterminated


@settings(deadline=None)
@given(file=files, quoted=st.booleans(), rows=st.sampled_from([3, 1000]))
@example(file=(["v,1,2", "Total,,2"], "\n", True), quoted=True, rows=1000)
@example(file=(["v,1,2", "v,Total,2", "v,2,3"], "\n", True), quoted=True, rows=2)
@example(file=(["v,1,2", "-,-,---", "v,2,3"], "\n", True), quoted=True, rows=1000)
@example(file=(["v,1,2", 'v,"x"y,3', "v,2,3"], "\n", True), quoted=True, rows=1000)
@example(file=(["v,1,2", "VENDOR,sku,price", "v,2,3"], "\r\n", False), quoted=False, rows=1000)
def test_a_block_gives_what_the_rows_give(file, quoted, rows):
    given_lines, end, is_ended = file
    text = end.join([HEADER, *given_lines]) + end * is_ended
    assert reading(text, quoted=quoted, rows=rows, by_block=True) == reading(
        text, quoted=quoted, rows=rows, by_block=False
    )


@settings(deadline=None)
@given(rows=lines(cells, (3, 3)), ahead=st.integers(80, 300), at_once=st.sampled_from([3, 1000]))
@example(rows=["v,1,2"] * 2 + ["Total,,2", "", ""], ahead=100, at_once=3)
@example(rows=["\x0b,,"], ahead=100, at_once=3)
def test_where_blocks_end_changes_nothing(rows, ahead, at_once):
    text = "\n".join([HEADER, *rows, ""])
    with mock.patch.object(csvfile, "_AHEAD_CHARACTERS", ahead), mock.patch.object(csvfile, "_FIRST_CHARACTERS", 80):
        by_block = reading(text, quoted=True, rows=at_once, by_block=True)
    assert by_block == reading(text, quoted=True, rows=1000, by_block=False)


genuine = st.lists(
    st.lists(
        st.sampled_from(["", "v", "a,b", 'a "b"', "two\nlines", "two\r\nlines", "Käse"]), min_size=3, max_size=3
    ).filter(any),
    min_size=1,
    max_size=30,
)


@settings(deadline=None)
@given(rows=genuine, ahead=st.integers(60, 300), at_once=st.sampled_from([3, 1000]))
def test_the_ends_of_blocks_are_no_ends_of_rows(rows, ahead, at_once):
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerows([HEADER.split(","), *rows])
    with mock.patch.object(csvfile, "_AHEAD_CHARACTERS", ahead), mock.patch.object(csvfile, "_FIRST_CHARACTERS", 60):
        columns, damaged, *_ = reading(text.getvalue(), quoted=True, rows=at_once, by_block=True)
    assert damaged == []
    assert [list(row) for row in zip(*columns, strict=True)] == [[cell or None for cell in row] for row in rows]


def test_the_rows_of_an_ordinary_file_are_a_block():
    columns = columns_of('v,1,"a, b"\r\n\r\nv,2,\r\n', ",", HEADER.split(","), quoted=True)
    assert [column.to_pylist() for column in columns] == [["v", "v"], ["1", "2"], ["a, b", None]]


def test_a_list_of_fixed_widths_is_none():
    fs = fsspec.filesystem("memory")
    fs.pipe_file("/erp.txt", b"0001\n0002\n")
    file = FixedWidth(FoundFile(fs, "/erp.txt", "store-1"), Layout({}, {"price": "1"}), {"sku": "1-3"}, "utf-8", None)
    assert [list(chunk.columns[0]) for chunk in file.chunks(10)] == [["000", "000"]]
