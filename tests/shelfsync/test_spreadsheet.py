"""Rows as a file: a spreadsheet runs none of their texts, and each value comes back as it was."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import openpyxl
import pytest

from shelfsync import spreadsheet
from shelfsync.spreadsheet import csv_text, write_workbook


def _cells(row):
    [cells] = csv.reader(io.StringIO(csv_text([row])))
    return cells


def test_a_text_that_a_spreadsheet_would_run_is_a_text():
    assert _cells(["=1+1", "a", 7, None, "-3"]) == ["'=1+1", "a", "7", "", "'-3"]


def test_a_formula_inside_a_text_is_none_where_a_spreadsheet_splits_at_semicolons():
    cells = ["wrong;=1+1", 'wrong;"=1"', "wrong\n+1", "a;-b; @c", "2 - 1 = 1; fine"]
    guarded = ["wrong;'=1+1", 'wrong;"\'=1"', "wrong\n'+1", "a;'-b; '@c", "2 - 1 = 1; fine"]
    assert _cells(cells) == guarded


def _sheets(file):
    return [[list(row) for row in sheet.iter_rows()] for sheet in openpyxl.load_workbook(file)]


def test_a_workbook_has_texts_as_texts_and_numbers_as_numbers(tmp_path):
    texts = [
        "=1+1",
        "00471",
        "-3",
        "{=SUM(A1)}",
        "https://x.example/",
        "mailto:a@b.example",
        "1e5",
        "ä😀\n<b>&",
    ]
    values = [*texts, 7, Decimal("1.500"), True, None, 2**60]
    write_workbook(tmp_path / "x.xlsx", [str(place) for place in range(len(values))], [values])
    [[_, row]] = _sheets(tmp_path / "x.xlsx")
    assert [cell.value for cell in row] == [*texts, 7, 1.5, True, None, str(2**60)]
    assert {cell.data_type for cell in row[: len(texts)]} == {"s"}, "no formula"
    assert not any(cell.hyperlink for cell in row)


@pytest.mark.parametrize(("rows", "sheets"), [(0, [0]), (2, [2]), (3, [2, 1])])
def test_rows_beyond_a_sheet_stand_on_the_next_one_below_the_same_names(tmp_path, monkeypatch, rows, sheets):
    monkeypatch.setattr(spreadsheet, "_SHEET_ROWS", 3)
    write_workbook(tmp_path / "x.xlsx", ["n"], ([number] for number in range(rows)))
    found = [[row[0].value for row in sheet] for sheet in _sheets(tmp_path / "x.xlsx")]
    assert [sheet[0] for sheet in found] == ["n"] * len(sheets)
    assert [len(sheet) - 1 for sheet in found] == sheets
    assert [value for sheet in found for value in sheet[1:]] == [*range(rows)]
