"""Back-off: waits grow after consecutive failures, by one function for every caller."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.back_off import back_off_s, waits_s

FIRST_S = st.floats(0.001, 3600)
MAX_S = st.floats(3600, 86_400)
SOURCE = Path(__file__).parents[2] / "include" / "shelfsync"


def test_the_first_waits_double():
    assert [back_off_s(failures, 15, 100) for failures in range(6)] == [0, 15, 30, 60, 100, 100]


@given(st.integers(-5, 10_000), FIRST_S, MAX_S)
def test_no_wait_is_shorter_or_above_the_limit(failures, first_s, max_s):
    wait_s = back_off_s(failures, first_s, max_s)
    assert wait_s <= back_off_s(failures + 1, first_s, max_s) <= max_s
    assert (wait_s == 0) == (failures < 1)


def test_a_first_wait_above_the_limit_is_cut():
    assert back_off_s(1, 900, 60) == 60
    assert waits_s(900, 60) == [60]


@given(st.integers(1, 100), FIRST_S, MAX_S)
def test_the_list_of_waits_is_the_same(failures, first_s, max_s):
    waits = waits_s(first_s, max_s)
    assert waits[min(failures, len(waits)) - 1] == back_off_s(failures, first_s, max_s)


@pytest.mark.slow
def test_no_other_file_doubles_a_wait():
    doubled = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(_doubles(node) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert doubled == {"back_off.py"}


def _doubles(node: ast.AST) -> bool:
    """ldexp, a power() of SQL, or 2 to the power of something that is no number."""
    if isinstance(node, ast.Attribute):
        return node.attr in {"ldexp", "power"}
    power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.left, ast.Constant)
    return power and node.left.value == 2 and not isinstance(node.right, ast.Constant)
