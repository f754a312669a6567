"""Rows as a file: an error of the first rows is an answer of its own, and nothing stays on the disk."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

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


def test_a_workbook_that_cannot_be_finished_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(DataError):
        workbook_file(["n"], _broken(), "x.xlsx")
    assert list(tmp_path.iterdir()) == []
    made = workbook_file(["n"], [[[1]]], "x.xlsx")
    assert [Path(made.path)] == list(tmp_path.iterdir())
