"""httpx is imported in one module of shelfsync and its client, so that a move to httpx2 is a line."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _imports(file: Path) -> set[str]:
    text = file.read_text("utf-8")
    if "httpx" not in text:
        return set()
    tree = ast.parse(text)
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return names | {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


def test_one_module_imports_httpx() -> None:
    files = [file for folder in ("include", "plugins", "dags") for file in (ROOT / folder).rglob("*.py")]
    importing = [file for file in files if any(name.split(".")[0] in {"httpx", "httpx2"} for name in _imports(file))]
    assert [file.relative_to(ROOT).as_posix() for file in importing] == ["include/partner_api/http_library.py"]
