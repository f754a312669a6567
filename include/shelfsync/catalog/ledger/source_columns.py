"""The columns that the ERP's readings had, by name and type: a source that changes its shape is told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from shelfsync.errors import some_of
from shelfsync.store.metadata import after, identity, metadata, number, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.engine import Connection

source_columns = sa.Table(
    "source_columns",
    metadata,
    identity("source_columns_id", "Order in which the columns were seen"),
    number("run_id", "The run that saw them first"),
    sa.Column(
        "columns", JSONB, nullable=False, comment="Name of each column -> its type, as far as the source states it"
    ),
    sa.Column(
        "changes", ARRAY(sa.Text), nullable=False, comment="What differs from the row before, each as a sentence"
    ),
    written("seen_at", "When they were first seen"),
    sa.Index("ix_source_columns_run_id", "run_id"),
    schema="ledger",
    comment="One row each time a whole reading of the ERP had other columns than the one before",
)


def differences(connection: Connection, columns: Mapping[str, str]) -> list[str] | None:
    """What is different from the last columns, each as a sentence without a full stop; None: no columns are known yet."""
    statement = sa.select(source_columns.c.columns).order_by(source_columns.c.source_columns_id.desc()).limit(1)
    before: dict[str, str] | None = connection.execute(statement).scalar_one_or_none()
    if before is None:
        return None
    new, gone = [name for name in columns if name not in before], [name for name in before if name not in columns]
    other = [name for name, kind in columns.items() if before.get(name, kind) != kind]
    found = [f"new: {some_of([repr(name) for name in new], 10)}"] if new else []
    found += [f"gone: {some_of([repr(name) for name in gone], 10)}"] if gone else []
    return found + [f"{name!r} is of the type {columns[name]} and was {before[name]}" for name in other[:10]]


def note(connection: Connection, run_id: int, columns: Mapping[str, str]) -> None:
    """Keeps the columns if they differ from the last ones, or are the first."""
    found = differences(connection, columns)
    if found or found is None:
        values = {"run_id": run_id, "columns": dict(columns), "changes": found or []}
        connection.execute(source_columns.insert().values(values))


def lines(connection: Connection, *, run_id: int | None = None, hours: float = 24) -> list[str]:
    """A line about what a run found, or all runs of the last hours."""
    column = source_columns.c
    recent = column.seen_at > after(-hours * 3600) if run_id is None else column.run_id == run_id
    rows = connection.execute(
        sa.select(column.run_id, column.changes).where(recent, column.changes != sa.literal([], ARRAY(sa.Text)))
    )
    return [sentence(row.changes, f"run {row.run_id}") for row in rows]


def sentence(changes: list[str], who: str) -> str:
    """For a person: what changed, and what to do."""
    return (
        f"{who}: the ERP's columns have changed: {'; '.join(changes)}. If the ERP should not have changed them, tell its team; `shelfsync plan` shows"
        " what is understood of each column (SHELFSYNC_ERP__CHANGED_COLUMNS)"
    )
