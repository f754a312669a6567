"""Rows as a file for a spreadsheet, CSV or XLSX. A spreadsheet runs none of their texts."""

from __future__ import annotations

import csv
import io
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from shelfsync.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WORKBOOK_ROWS = 20_000
"""Of a workbook that a page makes: some three seconds of work before its answer begins."""
_FORMULA = re.compile(r"""(^|[;\t\r\n][;"'\s]*)(?=[=+\-@\t\r])""")
"""Where a cell begins like a formula; also inside a text, because many spreadsheets split a CSV at semicolons."""
_SHEET_ROWS = 1_048_576
"""Of an XLSX, by its format; further rows stand on further sheets."""
_TEXT_CHARACTERS = 32_767
_EXACT_DIGITS = 15
"""A spreadsheet keeps numbers as binary fractions."""


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Rows of a CSV, each with its end of line. A text that begins like a formula gets an apostrophe before it."""
    written = io.StringIO()
    csv.writer(written).writerows([_guarded(value) for value in row] for row in rows)
    return written.getvalue()


def _guarded(value: Any) -> Any:
    return _FORMULA.sub(r"\1'", value) if isinstance(value, str) else value


def write_workbook(file: Any, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """An XLSX with these columns into a binary file, a row at a time. Texts are texts, whatever they begin with; a number of more than 15 digits is a text."""
    import xlsxwriter  # each worker would pay for it

    with xlsxwriter.Workbook(file, {"constant_memory": True}) as book:
        sheet, place = None, _SHEET_ROWS
        for row in rows:
            if place >= _SHEET_ROWS:
                sheet, place = _new_sheet(book, names), 1
            _write_row(sheet, place, row)
            place += 1
        if sheet is None:
            _new_sheet(book, names)


def _new_sheet(book: Any, names: Sequence[str]) -> Any:
    sheet = book.add_worksheet()
    sheet.freeze_panes(1, 0)
    _write_row(sheet, 0, names)
    return sheet


def _write_row(sheet: Any, place: int, row: Sequence[Any]) -> None:
    for column, value in enumerate(row):
        if isinstance(value, bool):
            sheet.write_boolean(place, column, value)
        elif _is_exact(value):
            sheet.write_number(place, column, value)
        elif value is not None:
            sheet.write_string(place, column, str(value)[:_TEXT_CHARACTERS])


def _is_exact(value: Any) -> bool:
    return isinstance(value, int | Decimal) and len(str(abs(value)).replace(".", "")) <= _EXACT_DIGITS


def few(rows: Iterable[list[Any]]) -> Iterator[list[Any]]:
    """The rows, if a page may make a workbook of so many; DataError at the row after WORKBOOK_ROWS."""
    for number, row in enumerate(rows):
        if number == WORKBOOK_ROWS:
            raise DataError(
                f"there are more than {WORKBOOK_ROWS:,} rows, too many for a workbook; take the CSV, or filter the list"
            )
        yield row
