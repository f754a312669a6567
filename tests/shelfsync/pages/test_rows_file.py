"""Rows as a file: an error of the first rows is an answer of its own, and nothing stays on the disk."""

from __future__ import annotations

import tempfile

import pytest

from shelfsync import spreadsheet
from shelfsync.errors import DataError
from shelfsync.pages.rows_file import csv_file, workbook_file


def _broken():
    yield [[1]]
    raise DataError("gone")


def test_an_error_of_the_first_rows_comes_before_the_file():
    def broken_at_once():
        raise DataError("gone")
        yield

    with pytest.raises(DataError):
        csv_file(["n"], broken_at_once(), "x.csv")


def test_a_workbook_leaves_no_file_whatever_becomes_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(DataError):
        workbook_file(["n"], _broken(), "x.xlsx")
    kept = workbook_file(["n"], [[[1]]], "x.xlsx")
    assert kept.headers["content-disposition"] == 'attachment; filename="x.xlsx"'
    assert list(tmp_path.iterdir()) == []
    kept.background.func()


def test_a_workbook_has_no_more_rows_than_an_answer_can_wait_for(monkeypatch):
    monkeypatch.setattr(spreadsheet, "WORKBOOK_ROWS", 2)
    workbook_file(["n"], [[[1], [2]]], "x.xlsx").background.func()
    with pytest.raises(DataError, match="more than 2 rows, too many for a workbook; take the CSV"):
        workbook_file(["n"], [[[1], [2]], [[3]]], "x.xlsx")
