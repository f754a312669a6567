"""The name of the last file of changes that a dump has: one line of text beside the dump."""

from __future__ import annotations

import pytest

from shelfsync.erp.file_time_limit import TimeLimit
from shelfsync.erp.last_file_of_dump import last_of_dump
from shelfsync.errors import ConfigurationError, IncompleteExtractError
from shelfsync.settings import ErpSettings


def read(since, feed="/feed", sequence=""):
    settings = ErpSettings(changes_files=feed, changes_since_file=str(since))
    return last_of_dump(settings, TimeLimit(10))(sequence)


def test_it_is_the_text_without_spaces_around_it(tmp_path):
    file = tmp_path / "since.txt"
    file.write_text(" 20261125T101500.csv\n", "utf-8")
    assert read(file) == "20261125T101500.csv"


@pytest.mark.parametrize("text", [b"two\nlines", b"\xff\xfa.csv", b"x" * 5000])
def test_what_is_not_one_line_of_text_stops_the_reading(tmp_path, text):
    file = tmp_path / "since.txt"
    file.write_bytes(text)
    with pytest.raises(IncompleteExtractError, match="is not one line of text"):
        read(file)


def test_a_file_for_each_store_needs_files_of_changes_for_each_store(tmp_path):
    with pytest.raises(ConfigurationError, match="which SHELFSYNC_ERP__CHANGES_FILES does not"):
        read(tmp_path / "{vendor}.txt")
