"""Rows as a file: a spreadsheet runs none of their texts."""

from __future__ import annotations

from shelfsync.pages import rows_file


def test_a_text_that_a_spreadsheet_would_run_is_a_text():
    assert [rows_file._cell(value) for value in ("=1+1", "a", 7, None, "-3")] == ["'=1+1", "a", 7, None, "'-3"]


def test_a_formula_inside_a_text_is_none_where_a_spreadsheet_splits_at_semicolons():
    cells = ["wrong;=1+1", 'wrong;"=1"', "wrong\n+1", "a;-b; @c", "2 - 1 = 1; fine"]
    guarded = ["wrong;'=1+1", 'wrong;"\'=1"', "wrong\n'+1", "a;'-b; '@c", "2 - 1 = 1; fine"]
    assert [rows_file._cell(value) for value in cells] == guarded
