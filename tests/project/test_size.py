"""How large the code outside the tests may be (docs/explanation/decisions/0020-size.md)."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("benchmarks", "dags", "include", "plugins", "scripts")
FILES_MAX = 420
LINES_OF_CODE_MAX = 50_000


def test_the_code_outside_the_tests_keeps_its_size():
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    assert len(files) <= FILES_MAX
    assert sum(map(_lines_of_code, files)) <= LINES_OF_CODE_MAX


def test_blank_lines_comments_and_docstrings_are_no_code(tmp_path):
    file = tmp_path / "example.py"
    file.write_text('"""Two\nlines."""\n\n# why\nX = 1  # beside code\n"""Of X."""\nY = """\ntext\n"""\n', "utf-8")
    assert _lines_of_code(file) == 4


def _lines_of_code(file: Path) -> int:
    text = file.read_text("utf-8")
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            prose.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = (line.strip() for number, line in enumerate(text.splitlines(), 1) if number not in prose)
    return sum(bool(line) and not line.startswith("#") for line in lines)
