"""docs/internals/reliability.md and tests/faults.md name the tests of each promise: each test is there, and each table is whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mutation.bug import bugs, table

ROOT = Path(__file__).resolve().parents[2]
PAGE = "\n".join((ROOT / name).read_text("utf-8") for name in ("docs/internals/reliability.md", "tests/faults.md"))
PROMISES = {f"I{number}" for number in range(1, 19)}
FAULTS = 80
FAILURES = 12
NAMES = re.compile(r"`(test_\w+)`")


def _tests() -> set[str]:
    found: set[str] = set()
    for file in [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "sandbox/tests").rglob("test_*.py")]:
        found |= set(re.findall(r"^\s*(?:async )?def (test_\w+)", file.read_text("utf-8"), re.MULTILINE))
    return found


def _rows(head: str) -> list[list[str]]:
    """The cells of the table whose first line is this."""
    lines = PAGE.splitlines()
    assert lines.count(head) == 1, f"the page has no single table with the head {head!r}"
    start = lines.index(head) + 2
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


FAULT_ROWS = _rows("| # | fault | promise | tests |")


def test_every_test_the_page_names_is_there():
    assert sorted(set(NAMES.findall(PAGE)) - _tests()) == []


def test_every_file_the_page_names_is_there():
    named = set(re.findall(r"`((?:tests|docs|include|dags)/[\w./]+)(?:::\w+)?`", PAGE))
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def test_every_promise_has_a_planted_bug():
    """The page names the list instead of repeating it; `PYTHONPATH=tests python -m mutation --table` prints it."""
    planted = bugs()
    assert {promise for bug in planted for promise in bug.promise.split()} == PROMISES
    assert len(planted) > 150
    assert [bug.name for bug in planted if f"\n| {bug.name} | {bug.promise} | `test_" not in table(planted)] == []


def test_every_fault_is_answered_once_and_in_order():
    assert [row[0] for row in FAULT_ROWS] == [str(number) for number in range(1, FAULTS + 1)]


@pytest.mark.parametrize("row", FAULT_ROWS, ids=lambda row: row[0])
def test_a_fault_has_its_promise_and_its_tests_or_a_reason(row):
    assert len(row) == 4
    assert row[2]
    assert set(row[2].split()) <= PROMISES
    assert NAMES.search(row[3]) or row[3].startswith(("not yet: ", "not ours: "))


def test_every_known_failure_has_its_test():
    rows = _rows("| # | what went wrong elsewhere | tests |")
    assert [row[0] for row in rows] == [str(number) for number in range(1, FAILURES + 1)]
    assert all(NAMES.search(row[2]) for row in rows)


def test_every_bug_that_the_simulation_found_is_a_test_now():
    assert all(NAMES.search(row[1]) for row in _rows("| found | test |"))


def test_every_promise_is_listed():
    listed = {row[0].strip("*") for row in _rows("| | promise |")}
    assert listed == PROMISES
