"""Files of changes are taken in the order of their names, up to the first that waits; one that comes too late is quarantined."""

from __future__ import annotations

from types import SimpleNamespace

from shelfsync.erp.change_file_order import take_in_order
from shelfsync.erp.change_file_state import ChangeFile, FileState


def taken(names, known=(), *, waiting=(), dumped=False):
    """Name -> state, after the files of these names were taken in order; those of `waiting` are not whole."""
    changes = SimpleNamespace(files={one.path: one for one in known})
    seen = []

    def take(file, sequence, _known, _changes):
        seen.append(file.path)
        state = FileState.WAITING if file.path in waiting else FileState.TAKEN
        return ChangeFile(file.path, sequence, file.listed, state, rows=1)

    take_in_order("", [SimpleNamespace(path=name, listed="new") for name in names], changes, take, dumped=dumped)
    return seen, changes.files


def test_each_is_taken_once_in_the_order_of_the_names():
    known = ChangeFile("1.csv", "", "new", FileState.TAKEN, rows=1)
    seen, _ = taken(["1.csv", "2.csv", "3.csv"], [known])
    assert seen == ["2.csv", "3.csv"]


def test_behind_one_that_waits_none_is_read():
    seen, files = taken(["1.csv", "2.csv", "3.csv"], waiting=["2.csv"])
    assert seen == ["1.csv", "2.csv"]
    assert files["3.csv"].state == FileState.WAITING
    assert "behind '2.csv', which waits" in files["3.csv"].reason


def test_one_whose_name_is_before_that_of_a_taken_one_is_quarantined_with_what_to_do():
    known = ChangeFile("5.csv", "", "new", FileState.TAKEN, rows=1)
    for dumped, remedy in ((False, "remove it and run"), (True, "a-name-that-sorts-too-high")):
        seen, files = taken(["4.csv"], [known], dumped=dumped)
        assert seen == []
        assert files["4.csv"].state == FileState.QUARANTINED
        assert remedy in files["4.csv"].reason


def test_a_quarantined_one_that_never_gave_a_row_keeps_no_other_out():
    known = ChangeFile("5.csv", "", "new", FileState.QUARANTINED, "cut")
    seen, _ = taken(["4.csv"], [known])
    assert seen == ["4.csv"]
