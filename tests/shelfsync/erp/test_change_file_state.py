"""The places of files of changes among each other, and which of them are done with."""

from __future__ import annotations

from shelfsync.erp.change_file_state import DONE, ChangeFile, FileState, not_whole, place_of, without_a_row


def test_files_follow_each_other_by_their_names_whatever_their_folders():
    paths = ["s3://b/z/changes-001.csv", "s3://b/a/changes-003.csv", "s3://b/m/changes-002.csv"]
    assert [path[-7:-4] for path in sorted(paths, key=place_of)] == ["001", "002", "003"]
    assert place_of("s3://b/a/changes-001.csv") < place_of(paths[0]), "the folder parts files of one name"
    assert ChangeFile(paths[0], "", "stamp", FileState.TAKEN).place == place_of(paths[0])


def test_a_file_is_done_with_once_its_rows_landed_or_it_is_quarantined():
    assert set(FileState) - set(DONE) == {FileState.WAITING, FileState.AGAIN}


def _waiting(*, rested, stamp="1"):
    return ChangeFile("f", "", stamp, FileState.WAITING, "cut", 3, rested=rested)


def test_a_file_that_is_not_whole_waits_until_it_has_rested_and_is_quarantined_then():
    assert not_whole("f", "", "1", None, "cut").state == FileState.WAITING
    assert not_whole("f", "", "1", _waiting(rested=False), "cut").state == FileState.WAITING
    assert not_whole("f", "", "2", _waiting(rested=True), "cut").state == FileState.WAITING, "it was written on"
    found = not_whole("f", "", "1", _waiting(rested=True), "cut")
    assert (found.state, found.reason, found.rows) == (FileState.QUARANTINED, "cut", 3)


def test_a_file_without_a_row_waits_until_it_has_rested_and_counts_as_taken_then():
    assert without_a_row("f", "", "1", _waiting(rested=False), "empty").state == FileState.WAITING
    found = without_a_row("f", "", "1", _waiting(rested=True), "empty")
    assert (found.state, found.rows) == (FileState.TAKEN, 0)
