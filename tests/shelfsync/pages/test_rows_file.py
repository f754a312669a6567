"""Rows as a file: a spreadsheet runs none of their texts."""

from __future__ import annotations

from shelfsync.pages import rows_file


def test_a_text_that_a_spreadsheet_would_run_is_a_text():
    assert [rows_file._cell(value) for value in ("=1+1", "a", 7, None, "-3")] == ["'=1+1", "a", 7, None, "'-3"]
