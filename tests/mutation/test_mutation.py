"""The list of planted bugs stays true to the source; `make mutation` plants the whole of it, and so does `make proof`."""

from __future__ import annotations

import ast

import pytest

from mutation import command
from mutation.bug import ROOT, Bug, Edit, bugs

BUGS = bugs()


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_every_planted_bug_can_still_be_planted(bug):
    """The text of each occurs exactly once. If you rewrite it, move the bug too (tests/mutation/bugs.toml)."""
    for text in bug.planted(ROOT).values():
        ast.parse(text)


def test_the_list_is_long_enough_and_names_each_bug_once():
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 20
    assert all(bug.caught_by for bug in BUGS)


def test_every_test_named_beside_a_bug_is_there():
    missing = []
    for test in sorted({test for bug in BUGS for test in bug.caught_by}):
        path, name = test.split("::")
        if f"def {name}(" not in (ROOT / path).read_text("utf-8"):
            missing.append(test)
    assert missing == []


SUMS = (
    "LEAST = 0\n\n\ndef add(a, b):\n    return a + b\n\n\nclass Sum:\n    def add(self, a, b):\n        return a + b\n"
)


@pytest.fixture
def small(tmp_path):
    """A tree with one function and one test of it."""
    (tmp_path / "include").mkdir()
    (tmp_path / "include/sums.py").write_text(SUMS, "utf-8")
    (tmp_path / "test_sums.py").write_text(
        "from sums import add\n\n\ndef test_two_and_two():\n    assert add(2, 2) == 4\n", "utf-8"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = include\n", "utf-8")
    return tmp_path


def _bug(new, old="a + b", at="sums.add"):
    return Bug("sums", "I0", (Edit(at, old, new),), ("test_sums.py::test_two_and_two",))


@pytest.mark.slow
def test_a_bug_that_no_test_detects_is_reported_and_removed(small, capsys):
    assert command._caught(small, _bug("a - b"))
    assert not command._caught(small, _bug("a * b"))
    assert "NOT CAUGHT  sums" in capsys.readouterr().out
    assert (small / "include/sums.py").read_text("utf-8") == SUMS


@pytest.mark.slow
def test_a_bug_that_breaks_the_program_altogether_is_not_caught_by_that(small):
    assert not command._caught(small, _bug("a +"))


def test_a_bug_whose_text_is_gone_is_an_error(small):
    with pytest.raises(ValueError, match=r"sums: sums\.add has this text 0 times"):
        _bug("a - b", old="a / b").plant(small)
    with pytest.raises(SystemExit, match="cannot be planted any more"):
        command._sound(small, [_bug("a - b", old="a / b")])


def test_an_anchor_survives_a_move_of_its_module(small):
    (small / "include/rooms").mkdir()
    (small / "include/sums.py").rename(small / "include/rooms/sums.py")
    assert [_bug("a - b", at=at).edits[0].trouble(small) for at in ("sums.add", "rooms.sums.add", "sums.Sum.add")] == [
        None
    ] * 3
    assert _bug("1", old="0", at="sums.LEAST").edits[0].trouble(small) is None
    assert _bug("a - b", at="sums.subtract").edits[0].trouble(small) == "sums.subtract is not there"
    assert _bug("a - b", at="sums").edits[0].trouble(small) == "sums has this text 2 times: 'a + b'"


def test_two_edits_of_one_function_are_planted_together(small):
    both = Bug("sums", "I0", (Edit("sums.add", "a + b", "b"), Edit("sums.add", "add(a", "add(a=1")), ())
    assert next(iter(both.planted(small).values())) == SUMS.replace("a + b", "b", 1).replace("add(a", "add(a=1", 1)
