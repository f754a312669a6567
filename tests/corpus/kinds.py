"""Lists that are no CSV of one file: workbooks, JSON lines, fixed widths, Parquet, and their packings, each with its faults."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import xlwt

from corpus.dialects import Numbers
from corpus.faults import HEADER, SKUS, File, Row, all_rows
from ods_file import write_ods

if TYPE_CHECKING:
    from collections.abc import Callable

GERMAN = Numbers(",", ".", " \u20ac", "any")
WIDTHS = {"sku": "1-12", "name": "13-32", "price": "33-44", "quantity": "45-52", "active": "53-57"}


@dataclass(frozen=True)
class Kind:
    """A way to write rows of cells, the names first: the ending of its files, and the settings that describe it."""

    name: str
    ending: str
    write: Callable[[Any], bytes]
    settings: dict[str, Any] = field(default_factory=dict)
    numbers: Numbers | None = None
    """If numbers are texts, how they are written."""

    def cells(self, row: Row) -> list[Any]:
        """The cells of a row; a price of None is none."""
        price: Any = None if row.price is None else row.price / 1000
        quantity: Any = row.quantity
        if self.numbers is not None:
            price = None if row.price is None else self.numbers.price(row.price)
            quantity = self.numbers.count(row.quantity)
        return [row.sku, row.name, price, quantity, row.active]


def _xlsx(table: Any) -> bytes:
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["Prices of the day"])
    for row in table:
        book.active.append(row)
    book.active.row_dimensions[4].hidden = True
    book.save(buffer)
    return buffer.getvalue()


def _xls(table: Any) -> bytes:
    book, buffer = xlwt.Workbook(), io.BytesIO()
    sheet = book.add_sheet("Stock")
    for down, row in enumerate(table):
        for right, cell in enumerate(row):
            if cell is not None:
                sheet.write(down, right, cell)
    book.save(buffer)
    return buffer.getvalue()


def _ods(table: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stock.ods"
        write_ods(path, [[int(cell) if isinstance(cell, bool) else cell for cell in row] for row in table])
        return path.read_bytes()


def _json_lines(table: Any) -> bytes:
    names, *rows = table
    return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows).encode()


def _fixed(table: Any) -> bytes:
    ends = [int(places.partition("-")[2]) for places in WIDTHS.values()]
    widths = [end - start for start, end in zip([0, *ends], ends, strict=False)]
    lines = []
    for row in table:
        words = ["" if cell is None else str(cell) for cell in row]
        right = [*(word.ljust(width) for word, width in zip(words[:2], widths, strict=False))]
        right += [word.rjust(width) for word, width in zip(words[2:], widths[2:], strict=True)]
        lines.append("".join(right) + "\n")
    return "".join(lines).encode()


def _tabs(table: Any) -> bytes:
    lines = ["\t".join("NULL" if cell is None else str(cell) for cell in row) + "\n" for row in table]
    return "".join(lines).encode("cp1252")


def _parquet(table: Any) -> bytes:
    names, *rows = table
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    types = [pa.string(), pa.string(), pa.float64(), pa.int64(), pa.bool_()]
    made = {name: pa.array(column, kind) for name, column, kind in zip(names, columns, types, strict=True)}
    buffer = io.BytesIO()
    pq.write_table(pa.table(made), buffer)
    return buffer.getvalue()


def _zst(data: bytes) -> bytes:
    return pa.compress(data, codec="zstd", asbytes=True)


GERMAN_SETTINGS = GERMAN.settings()
KINDS = [
    Kind("workbook", ".xlsx", _xlsx, {"header_row": 2}),
    Kind("workbook-of-texts", ".xlsx", _xlsx, {"header_row": 2, **GERMAN_SETTINGS}, GERMAN),
    Kind(
        "workbook-gz",
        ".xlsx.gz",
        lambda table: gzip.compress(_xlsx(table)),
        {"header_row": 2, "file_format": "workbook"},
    ),
    Kind("old-workbook", ".xls", _xls),
    Kind("open-document", ".ods", _ods),
    Kind("json-lines", ".jsonl", _json_lines),
    Kind("json-lines-gz", ".jsonl.gz", lambda table: gzip.compress(_json_lines(table))),
    Kind("fixed", ".txt", _fixed, {"fixed_width": WIDTHS, "header_row": 1, **GERMAN_SETTINGS}, GERMAN),
    Kind(
        "tabs-zst",
        ".csv.zst",
        lambda table: _zst(_tabs(table)),
        {"csv_delimiter": "tab", "csv_encoding": "cp1252", "null_words": ["NULL"], **GERMAN_SETTINGS},
        GERMAN,
    ),
    Kind("parquet", ".parquet", _parquet),
]


def _rows_of(kind: Kind, rows: list[Row]) -> tuple[bytes, File]:
    wanted = {
        row.sku: (None if row.price is None else row.price // 10 / 100, row.active and row.quantity > 0) for row in rows
    }
    return kind.write([HEADER, *(kind.cells(row) for row in rows)]), File([], wanted)


def clean(kind: Kind) -> tuple[bytes, File]:
    return _rows_of(kind, all_rows())


def sold_out(kind: Kind) -> tuple[bytes, File]:
    rows = all_rows()
    rows[1].quantity, rows[2].quantity, rows[3].active = 0, -3, False
    return _rows_of(kind, rows)


def two_prices(kind: Kind) -> tuple[bytes, File]:
    data, file = _rows_of(kind, [*all_rows(), replace(all_rows()[6], price=9_990)])
    del file.wanted[SKUS[6]]
    file.quarantined.add(SKUS[6])
    return data, file


def no_break_space(kind: Kind) -> tuple[bytes, File]:
    if kind.name == "fixed":  # there it is padding
        return clean(kind)
    rows = all_rows()
    rows[3].sku = f"{SKUS[3]}\u00a0"
    data, file = _rows_of(kind, rows)
    del file.wanted[rows[3].sku]
    file.quarantined.add(SKUS[3])
    return data, file


def header_alone(kind: Kind) -> tuple[bytes, File]:
    return kind.write([HEADER]), File([], {}, fails="thing was sent")


def cut(kind: Kind) -> tuple[bytes, File]:
    data, _ = _rows_of(kind, all_rows())
    return data[:-9], File([], {}, fails="thing was sent")


FAULTS = {rule.__name__: rule for rule in (clean, sold_out, two_prices, no_break_space, header_alone, cut)}
