"""The data dictionary: every table and view with its columns, their types, meaning and relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.dialects import postgresql

from shelfsync.warehouse.every_table import SCHEMAS, metadata
from shelfsync.warehouse.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import sqlalchemy as sa

DIALECT = postgresql.dialect()
LEDGER = tuple(name for name in SCHEMAS if name not in {"warehouse", "partition"})


def warehouse() -> str:
    """Every view and table of the schema warehouse."""
    views = [_relation(view.name, view.comment, [(*pair,) for pair in view.columns.items()]) for view in VIEWS]
    return "\n".join(["## Views\n", *views, "## Tables\n", _drawn(["warehouse"]), *_tables(["warehouse"])])


def ledger() -> str:
    """Every table that the steps decide by."""
    parts = []
    for schema in LEDGER:
        if tables := _tables([schema]):
            parts += [f"## Schema {schema}\n", _drawn([schema]), *tables]
    return "\n".join(parts)


def _of(schemas: Iterable[str]) -> list[sa.Table]:
    found = [table for table in metadata.tables.values() if table.schema in schemas]
    return sorted(found, key=lambda table: table.name)


def _tables(schemas: Iterable[str]) -> list[str]:
    return [
        _relation(
            table.name,
            table.comment or "",
            [(column.name, column.type.compile(DIALECT).lower(), _meaning(column)) for column in table.columns],
        )
        for table in _of(schemas)
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
    for table in _of(schemas):
        targets: dict[str, list[str]] = {}
        for column in table.columns:
            for key in column.foreign_keys:
                targets.setdefault(key.column.table.fullname, []).append(column.name)
        lines += [f"{table.fullname} ─ {', '.join(names)} ─▶ {target}" for target, names in targets.items()]
    return "```text\n" + "\n".join(lines) + "\n```\n" if lines else ""
