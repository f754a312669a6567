"""What was understood of the ERP, column by column: how a cell reads, the smallest and the largest value, and how many cells have none.

A plan shows it of all rows that it read, a check of the first ones. It holds one row a column, however many rows the ERP has.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows import number
from shelfsync.rows.mask import mask
from shelfsync.rows.truth_words import truth_values
from shelfsync.schemas import RAW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.rows.mask import Mask

_NUMBERS = frozenset({"price", "quantity", "max_sales_quantity", "cost", "sales_buffer"})
_OF_EACH_ROW = frozenset({"sku", "barcode", "name"})
_WITH_MARK = r"\d[^\d]+\d"
_SHOWN_CHARACTERS = 40


@dataclass
class ColumnReading:
    """One column. `source` is the ERP's name of it; `empty` cells hold nothing or a word for it, `not_read` others have no value of this kind.

    `cell` reads as `value`: the longest number of the first rows, or their first text. `style`: the marks by which numbers with a mark
    were read; None if there was none.
    """

    column: str
    source: str
    rows: int = 0
    empty: int = 0
    not_read: int = 0
    cell: str | None = None
    value: str | None = None
    smallest: str | None = None
    largest: str | None = None
    style: str | None = None


class ColumnReadings:
    """The columns of one reading; `look` takes a part of a column."""

    def __init__(self) -> None:
        self._columns: dict[str, ColumnReading] = {}
        self._ends: dict[str, tuple[Any, Any]] = {}

    def look(self, name: str, source: str, cells: pa.Array, texts: pa.Array, style: str | None) -> None:
        """Part of the column `name`: the ERP's cells, and the texts that the later steps read.

        `style`: how numbers are written in it, if its cells are texts.
        """
        one = self._columns.setdefault(name, ColumnReading(name, source))
        cells, texts = _whole(cells), _whole(texts)
        each, of_each = _distinct(name, texts)
        counts = np.bincount(each, minlength=len(of_each))
        values, unread = _read(name, of_each)
        none = mask(values.is_null())
        without, not_read = int(counts[none].sum()), int(counts[unread].sum())
        if name == "vendor" and without:  # its texts are the platform's ids: a store without one is left out
            not_read = int(_filled(cells.filter(pa.array(none[each]))).sum())
        one.rows += len(texts)
        one.not_read += not_read
        one.empty += without - not_read
        if style is not None and one.style is None and name in _NUMBERS:
            one.style = style if _any_mark(of_each if cells is texts else pc.unique(cells)) else None
        if without == len(texts):
            return
        if one.cell is None:
            place = _telling(name, cells, ~none[each])
            one.cell, one.value = _short(cells[place].as_py()), _shown(values[int(each[place])].as_py())
        ends = pc.min_max(values)
        low, high = ends["min"].as_py(), ends["max"].as_py()
        before = self._ends.get(name, (low, high))
        self._ends[name] = (min(low, before[0]), max(high, before[1]))

    def rows(self) -> list[ColumnReading]:
        """The columns that were read, in the order of an extract."""
        for name, (low, high) in self._ends.items():
            self._columns[name].smallest, self._columns[name].largest = _shown(low), _shown(high)
        return [self._columns[name] for name in RAW.names if name in self._columns]

    def documents(self) -> list[dict[str, Any]]:
        """The same for a script."""
        return [asdict(one) for one in self.rows()]


def _distinct(name: str, texts: pa.Array) -> tuple[Any, pa.Array]:
    """The place of each row's text among texts that are read once; all of them where nearly each row has one of its own."""
    if name in _OF_EACH_ROW:
        return np.arange(len(texts)), texts
    coded = texts.dictionary_encode(null_encoding="encode")
    return coded.indices.to_numpy(), coded.dictionary


def _read(name: str, texts: pa.Array) -> tuple[pa.Array, Mask]:
    """The values of a column, null where there is none; and where a text holds something else than a value."""
    filled = _filled(texts)
    if name in _NUMBERS:
        numbers = number.read(texts)
        values = pc.if_else(pa.array(numbers.negative), pc.negate(numbers.magnitude), numbers.magnitude)
    elif name == "active":
        values = truth_values(texts)
    else:
        values = pc.if_else(pa.array(filled), texts, pa.scalar(None, pa.string()))
    return values, filled & mask(values.is_null())


def _filled(texts: pa.Array) -> Mask:
    return mask(pc.not_equal(pc.utf8_trim_whitespace(texts), ""))


def _telling(name: str, cells: pa.Array, read: Mask) -> int:
    """The row of a sample: the longest number, because it shows the marks, or the first text."""
    if name not in _NUMBERS:
        return int(read.argmax())
    lengths = pc.utf8_length(cells).fill_null(0).to_numpy()
    return int(np.where(read, lengths, -1).argmax())


def _any_mark(distinct: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring_regex(distinct, _WITH_MARK)).as_py())


def _whole(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        plain = f"{value:f}"
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    return _short(str(value))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"


def lines(columns: Sequence[ColumnReading]) -> list[str]:
    """A line about each column, where there is no terminal for a table: the log of a task."""
    return [
        f"column {one.column} ({one.source} in the ERP): {one.cell!r} reads as {one.value}; {one.smallest} to {one.largest}; {one.rows:,} rows,"
        f" {one.empty:,} empty, {one.not_read:,} not read{f'; written with {one.style}' if one.style else ''}"
        if one.cell is not None
        else f"column {one.column} ({one.source} in the ERP): no value in {one.rows:,} rows, {one.not_read:,} not read"
        for one in columns
    ]


HEADINGS: dict[str, int | None] = {
    "column": 8,
    "in the ERP": 8,
    "empty": None,
    "not read": None,
    "cell": 8,
    "reads as": 8,
    "smallest": 8,
    "largest": 8,
    "written with": 8,
}
"""The headings of the table for a person, and the least width of each."""

MAY_GO = ("empty", "written with", "in the ERP", "not read")
"""The headings that a narrow terminal leaves out, the first one first."""


def table_rows(columns: Sequence[ColumnReading]) -> list[list[str]]:
    """The cells of that table."""
    return [
        [
            one.column,
            one.source,
            f"{one.empty:,}",
            f"{one.not_read:,}",
            *(text or "-" for text in (one.cell, one.value, one.smallest, one.largest, one.style)),
        ]
        for one in columns
    ]
