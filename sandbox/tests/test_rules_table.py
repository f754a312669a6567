"""docs/rules.md names tests that exist, and every test named after a section of the interface is in it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
TABLE = (HERE.parent / "docs/rules.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", TABLE))


def claims_of(file: Path) -> set[tuple[str, str]]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return {(file.name, function.name) for function in functions if function.name.startswith("test_")}


def test_every_test_of_the_table_exists():
    existing = set().union(*(claims_of(file) for file in HERE.glob("test_*.py")))
    assert len(NAMED) > 60
    assert sorted(NAMED - existing) == []


def test_every_section_with_tests_is_in_the_table():
    files = {file.name for file in HERE.glob("test_section_*.py")}
    assert sorted(files - {file for file, _ in NAMED}) == []


def test_each_row_of_the_table_names_a_test():
    rows = [line for line in TABLE.splitlines() if line.startswith("| ") and not line.endswith(" | test |")]
    assert [row for row in rows if "::test_" not in row] == []
