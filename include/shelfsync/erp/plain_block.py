"""Lines of a CSV without a fault, read as one block: the columns that csvfile.py reads row by row, at a tenth of the cost.

A block with a line that may be no row of the header's width gives None; csvfile.py then reads it row by row.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.erp.no_row import is_rule, may_begin_no_row, names_again

if TYPE_CHECKING:
    from collections.abc import Sequence


def columns_of(block: str, delimiter: str, header: Sequence[str], *, quoted: bool) -> list[pa.ChunkedArray] | None:
    """The columns of whole lines as texts, an empty cell as null. `header`: the folded names of the columns."""
    if not header or not delimiter.isascii() or "\0" in block or block.count("\r") != block.count("\r\n"):
        return None
    if block.startswith("\ufeff"):  # pyarrow leaves it out
        return None
    has_quotes = quoted and '"' in block
    if _has_long_line(block) or (has_quotes and not _is_well_quoted(block, delimiter, len(header))):
        return None
    try:
        columns = _separated(block.encode(), delimiter, len(header), quote='"' if has_quotes else False)
    except (UnicodeEncodeError, pa.ArrowInvalid):
        return None
    columns = _without_empty(columns)
    return None if _has_no_row(columns, header) else columns


def _has_long_line(block: str) -> bool:
    """Whether a line may have a cell that the module csv refuses for its length."""
    step = csv.field_size_limit() // 2
    return not all("\n" in block[start : start + step] for start in range(0, len(block), step))


def _is_well_quoted(block: str, delimiter: str, width: int) -> bool:
    """Whether each line is a row of its own to the module csv, which reports a quote in the wrong place."""
    try:
        widths = Counter(map(len, csv.reader(io.StringIO(block, newline=""), delimiter=delimiter, strict=True)))
    except csv.Error:
        return False
    return widths.total() == block.count("\n") and widths.keys() <= {0, width}


def _separated(data: bytes, delimiter: str, width: int, *, quote: str | bool) -> list[pa.ChunkedArray]:
    from pyarrow import csv as arrow_csv

    names = [str(place) for place in range(width)]
    columns: list[pa.ChunkedArray] = arrow_csv.read_csv(
        pa.BufferReader(data),
        read_options=arrow_csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, quote_char=quote),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True, null_values=[""]
        ),
    ).columns
    return columns


def _without_empty(columns: list[pa.ChunkedArray]) -> list[pa.ChunkedArray]:
    """The columns without lines of delimiters alone, which are no rows."""
    if not columns[0].null_count:
        return columns
    filled = pc.is_valid(columns[0])
    for column in columns[1:]:
        filled = pc.or_(filled, pc.is_valid(column))
    return columns if pc.all(filled).as_py() else [column.filter(filled) for column in columns]


def _has_no_row(columns: Sequence[pa.ChunkedArray], header: Sequence[str]) -> bool:
    """Whether one of the lines has the names again, or blanks alone, or is a drawn one. Without any line there is nothing to read."""
    if not len(columns[0]):
        return True
    odd = [cell for cell in pc.unique(columns[0]).to_pylist() if may_begin_no_row(cell or "", header)]
    if not odd:
        return False
    where = pc.is_in(columns[0], value_set=pa.array(odd, pa.string()))
    rows = zip(*(column.filter(where).fill_null("").to_pylist() for column in columns), strict=True)
    return any(not "".join(row).strip() or is_rule(row) or names_again(row, header) for row in rows)
