"""Finds a definition in a tree by its name: `module.function`, `module.Class.method`, `module.CONSTANT` or `module`."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SOURCES = ("include", "sandbox/partner_sandbox", "plugins", "dags", "scripts")


class PlaceError(Exception):
    """The place of a planted bug does not exist, or is not unique."""


@dataclass(frozen=True)
class Place:
    """A part of a file: its text, and the index of its first character."""

    file: Path
    start: int
    text: str


def places(tree: Path, name: str) -> list[Place]:
    """Every definition of this name, in all modules whose path ends with the front part of the name."""
    parts = name.split(".")
    found = []
    for file, module in _modules(tree):
        for length in range(1, len(parts) + 1):
            if module[-length:] == tuple(parts[:length]):
                found += _definitions(file, parts[length:])
    return found


@functools.cache
def _modules(tree: Path) -> tuple[tuple[Path, tuple[str, ...]], ...]:
    """Each source file with the parts of its dotted name."""
    files = sorted(file for folder in SOURCES for file in (tree / folder).rglob("*.py"))
    return tuple((file, _dotted(file.relative_to(tree).with_suffix("").parts)) for file in files)


def _dotted(parts: tuple[str, ...]) -> tuple[str, ...]:
    return parts[1:-1] if parts[-1] == "__init__" else parts[1:]


def _definitions(file: Path, names: Sequence[str]) -> Iterator[Place]:
    text = file.read_text(encoding="utf-8")
    if not names:
        yield Place(file, 0, text)
        return
    nodes: list[ast.AST] = [ast.parse(text)]
    for name in names:
        nodes = [child for node in nodes for child in getattr(node, "body", ()) if name in _names_of(child)]
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for node in nodes:
        first, last = _lines_of(node)
        yield Place(file, starts[first - 1], text[starts[first - 1] : starts[last]])


def _lines_of(node: ast.AST) -> tuple[int, int]:
    """The first and last line of a definition, decorators included."""
    decorators = [decorator.lineno for decorator in getattr(node, "decorator_list", ())]
    return min([node.lineno, *decorators]), node.end_lineno  # type: ignore[attr-defined]


def _names_of(node: ast.AST) -> set[str]:
    """What a statement defines: a function, a class, or the names that it assigns."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.Assign():
            return {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
    return set()
