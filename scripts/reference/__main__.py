"""`python -m scripts.reference FOLDER` copies the pages there and adds to the reference what the code states. `make docs` builds the site of it,
and `python -m scripts.reference FOLDER SITE` adds to the site the paths by which messages name its pages.

Settings, commands, errors and DAGs are in program.py, the platform's interface in contract.py, the tables of ledger and warehouse here.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.dialects import postgresql

from scripts.reference import contract, program
from shelfsync.warehouse.every_table import SCHEMAS, metadata
from shelfsync.warehouse.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import sqlalchemy as sa

DOCS = Path(__file__).resolve().parents[2] / "docs"
MARK = "`make docs` writes the rest of this page from the code."
DIALECT = postgresql.dialect()
LEDGER = tuple(name for name in SCHEMAS if name not in {"warehouse", "partition"})


def warehouse() -> str:
    """Every view and table of the schema warehouse."""
    views = [_relation(view.name, view.comment, [(*pair,) for pair in view.columns.items()]) for view in VIEWS]
    return "\n".join(["## Views\n", *views, "## Tables\n", _drawn(["warehouse"]), *_described(["warehouse"])])


def ledger() -> str:
    """Every table that the steps decide by."""
    parts = []
    for schema in LEDGER:
        if tables := _described([schema]):
            parts += [f"## Schema {schema}\n", _drawn([schema]), *tables]
    return "\n".join(parts)


def _tables_of(schemas: Iterable[str]) -> list[sa.Table]:
    found = [table for table in metadata.tables.values() if table.schema in schemas]
    return sorted(found, key=lambda table: table.name)


def _described(schemas: Iterable[str]) -> list[str]:
    return [
        _relation(
            table.name,
            table.comment or "",
            [(column.name, column.type.compile(DIALECT).lower(), _meaning(column)) for column in table.columns],
        )
        for table in _tables_of(schemas)
    ]


def _meaning(column: sa.Column) -> str:
    marks = ["primary key"] if column.primary_key else []
    marks += [f"→ `{key.target_fullname}`" for key in column.foreign_keys]
    marks += ["may be null"] if column.nullable else []
    return (column.comment or "") + (f" ({', '.join(marks)})" if marks else "")


def _relation(name: str, comment: str, columns: list[tuple[str, ...]]) -> str:
    head = "| column | |\n|---|---|\n" if len(columns[0]) == 2 else "| column | type | |\n|---|---|---|\n"
    rows = "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in columns)
    return f"### {name}\n\n{comment}.\n\n{head}{rows}"


def _drawn(schemas: Iterable[str]) -> str:
    """The relations between the tables as lines of text: who points to whom."""
    lines = []
    for table in _tables_of(schemas):
        targets: dict[str, list[str]] = {}
        for column in table.columns:
            for key in column.foreign_keys:
                targets.setdefault(key.column.table.fullname, []).append(column.name)
        lines += [f"{table.fullname} ─ {', '.join(names)} ─▶ {target}" for target, names in targets.items()]
    return "```text\n" + "\n".join(lines) + "\n```\n" if lines else ""


MADE: dict[str, Callable[[], str]] = {
    "reference/settings.md": program.settings,
    "reference/commands.md": program.commands,
    "reference/errors.md": program.error_pages,
    "reference/dags.md": program.dags,
    "reference/client.md": program.client,
    "reference/openapi.md": contract.operations,
    "reference/partner-sandbox.md": contract.sandbox,
    "reference/ledger.md": ledger,
    "reference/warehouse.md": warehouse,
}


def build(folder: Path) -> None:
    """All pages in a folder, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder)
    for name, write in MADE.items():
        page = folder / name
        head, mark, rest = page.read_text("utf-8").partition(MARK)
        if not mark or rest.strip():
            raise ValueError(f"{name}: the last line has to be: {MARK}")
        page.write_text(f"{head}{write().rstrip()}\n", "utf-8")


def redirect(pages: Path, site: Path) -> None:
    """Lets the site answer the paths that messages name: `docs/reference/errors.md#place` leads to the page, with its anchor."""
    for page in sorted(pages.rglob("*.md")):
        name = page.relative_to(pages)
        html = name.with_name("index.html") if name.name == "README.md" else name.with_suffix(".html")
        if not (site / html).is_file():
            raise FileNotFoundError(site / html)
        target = os.path.relpath(html, Path("docs") / name)
        folder = site / "docs" / name
        folder.mkdir(parents=True)
        (folder / "index.html").write_text(
            f'<!doctype html><title>{name}</title><a href="{target}">{html}</a>'
            f"<script>location.replace({target!r} + location.hash)</script>\n",
            "utf-8",
        )


if __name__ == "__main__":
    redirect(*map(Path, sys.argv[1:])) if sys.argv[2:] else build(Path(sys.argv[1]))
