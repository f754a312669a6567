# ruff: noqa: INP001  a script, not a package
"""Writes the part of docs/reference/warehouse.md that repeats the comments of tables and views; a test compares it."""

from __future__ import annotations

from pathlib import Path

from shelfsync.warehouse.every_table import metadata
from shelfsync.warehouse.views import VIEWS

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/warehouse.md"
MARK = "<!-- from here on written by scripts/warehouse_page.py -->\n"


def described() -> str:
    """Every view and table of the schema warehouse with its columns, in Markdown."""
    parts = ["## Views\n"]
    parts += [_relation(view.name, view.comment, list(view.columns.items())) for view in VIEWS]
    parts.append("## Tables\n")
    for table in sorted(metadata.tables.values(), key=lambda table: table.name):
        if table.schema == "warehouse":
            columns = [(column.name, column.comment or "") for column in table.columns]
            parts.append(_relation(table.name, table.comment or "", columns))
    return "\n".join(parts)


def page(text: str) -> str:
    """The page with its written part made anew."""
    return text.split(MARK, maxsplit=1)[0] + MARK + "\n" + described()


def _relation(name: str, comment: str, columns: list[tuple[str, str]]) -> str:
    rows = "".join(f"| {column} | {meaning.replace('|', chr(92) + '|')} |\n" for column, meaning in columns)
    return f"### {name}\n\n{comment}.\n\n| column | |\n|---|---|\n{rows}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
