"""The list of planted bugs stays true to the source; the whole of it is planted under `slow` (and by `make teeth`)."""

from __future__ import annotations

import ast

import pytest

from teeth import command
from teeth.bug import ROOT, Bug, Edit, bugs

BUGS = bugs()


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_every_planted_bug_can_still_be_planted(bug):
    """The text of each stands exactly once; whoever rewrites that place moves the bug along (tests/teeth/bugs.toml)."""
    assert [trouble for edit in bug.edits if (trouble := edit.trouble(ROOT))] == []
    for edit in bug.edits:
        planted = (ROOT / edit.file).read_text("utf-8").replace(edit.old, edit.new)
        ast.parse(planted)


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


@pytest.fixture
def small(tmp_path):
    """A tree with one function and one test of it."""
    (tmp_path / "sums.py").write_text("def add(a, b):\n    return a + b\n", "utf-8")
    (tmp_path / "test_sums.py").write_text(
        "from sums import add\n\n\ndef test_two_and_two():\n    assert add(2, 2) == 4\n", "utf-8"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n", "utf-8")
    return tmp_path


def _bug(new, old="a + b"):
    return Bug("sums", "I0", (Edit("sums.py", old, new),), ("test_sums.py::test_two_and_two",))


def test_a_bug_that_no_test_sees_is_told_and_taken_out_again(small, capsys):
    assert command._caught(small, _bug("a - b"))
    assert not command._caught(small, _bug("a * b"))
    assert "NOT CAUGHT  sums" in capsys.readouterr().out
    assert (small / "sums.py").read_text("utf-8") == "def add(a, b):\n    return a + b\n"


def test_a_bug_that_breaks_the_program_altogether_is_not_caught_by_that(small):
    assert not command._caught(small, _bug("a +"))


def test_a_bug_whose_text_is_gone_is_an_error(small):
    with pytest.raises(ValueError, match=r"sums: sums\.py has this text 0 times"):
        _bug("a - b", old="a / b").plant(small)
    with pytest.raises(SystemExit, match="cannot be planted any more"):
        command._sound(small, [_bug("a - b", old="a / b")])


@pytest.mark.slow
def test_planted_bugs_are_caught(capsys):
    """Every tenth; `make teeth` takes half an hour for all of them."""
    assert command.main(["--every", "10"]) == 0, capsys.readouterr().out
