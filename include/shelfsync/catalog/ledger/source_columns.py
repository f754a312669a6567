"""The columns that the ERP's readings had, by name and type: a source that changes its shape is reported once."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, distinct_on

from shelfsync.errors import some_of
from shelfsync.store.metadata import after, boolean, identity, metadata, number, text, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.engine import Connection

    Columns = Mapping[str | None, Mapping[str, str]]
    """Vendor whose own files they are of, or None -> name of each column -> its type."""

source_columns = sa.Table(
    "source_columns",
    metadata,
    identity("source_columns_id", "Order in which the columns were seen"),
    number("run_id", "The run that saw them first"),
    boolean("dry_run", "True: only a plan has seen them yet", nullable=False),
    text("vendor", "The vendor whose own files have them; null: the source is one for all vendors"),
    sa.Column(
        "columns", JSONB, nullable=False, comment="Name of each column -> its type, as far as the source states it"
    ),
    sa.Column(
        "changes", ARRAY(sa.Text), nullable=False, comment="What differs from the row before, each as a sentence"
    ),
    written("seen_at", "When they were first seen"),
    sa.Index("ix_source_columns_run_id", "run_id"),
    sa.Index("ix_source_columns_vendor", "vendor", "source_columns_id"),
    schema="ledger",
    comment="One row each time a source of the ERP had other columns than in the reading before",
)
_COLUMN = source_columns.c
_CHANGED = _COLUMN.changes != sa.literal([], ARRAY(sa.Text))


def differences(connection: Connection, columns: Columns) -> dict[str | None, list[str]]:
    """What is different from the columns that the last sync saw, as `note` keeps it; nothing of a source that is new."""
    last = _last(connection, ~_COLUMN.dry_run)
    found = {vendor: _changes(last[vendor].columns, theirs) for vendor, theirs in columns.items() if vendor in last}
    return {vendor: changes for vendor, changes in found.items() if changes}


def note(connection: Connection, run_id: int, columns: Columns, *, dry_run: bool) -> None:
    """Keeps the columns that differ from the last ones, or are the first. A sync takes over what only a plan has seen."""
    last, new, planned = _last(connection), [], []
    for vendor, theirs in columns.items():
        before = last.get(vendor)
        changes = [] if before is None else _changes(before.columns, theirs)
        if before is None or changes:
            values = {"run_id": run_id, "dry_run": dry_run, "vendor": vendor}
            new.append({**values, "columns": dict(theirs), "changes": changes})
        elif before.dry_run and not dry_run:
            planned.append(before.source_columns_id)
    if new:
        connection.execute(source_columns.insert(), new)
    if planned:
        taken = source_columns.update().where(_COLUMN.source_columns_id.in_(planned))
        connection.execute(taken.values(run_id=run_id, dry_run=False))


def since(connection: Connection, vendor: str, trusted: int | None, run_id: int) -> list[str]:
    """What is different, in this run, from the columns of the vendor's last trusted extract, that of the run `trusted`."""
    if trusted is None:
        return []
    theirs = sa.or_(_COLUMN.vendor.is_(None), _COLUMN.vendor == vendor)
    now = _last(connection, theirs, _COLUMN.run_id <= run_id)
    then = _last(connection, theirs, _COLUMN.run_id <= trusted)
    found: list[str] = []
    for source, row in now.items():
        if row.run_id > trusted:  # housekeeping may have removed the row before
            found += _changes(then[source].columns, row.columns) if source in then else row.changes
    return found


def newest(connection: Connection) -> int:
    """The number of the last change; 0: there was none."""
    newest = sa.select(sa.func.max(_COLUMN.source_columns_id)).where(_CHANGED)
    return connection.execute(newest).scalar_one() or 0


def lines(connection: Connection, *, run_id: int | None = None, hours: float = 24) -> list[str]:
    """A line about each thing that a run found, or all runs of the last hours."""
    recent = _COLUMN.seen_at > after(-hours * 3600) if run_id is None else _COLUMN.run_id == run_id
    statement = sa.select(_COLUMN.run_id, _COLUMN.vendor, _COLUMN.changes).where(recent, _CHANGED)
    alike = defaultdict(list)
    for row in connection.execute(statement.order_by(_COLUMN.source_columns_id)):
        alike[row.run_id, tuple(row.changes)].append(row.vendor)
    return [
        sentence({vendor: list(changes) for vendor in theirs}, f"run {run}") for (run, changes), theirs in alike.items()
    ]


def sentence(changes: Mapping[str | None, list[str]], who: str) -> str:
    """For a person: what changed, where, and what to do. Of stores that changed differently it has the first."""
    stores = sorted(vendor for vendor in changes if vendor is not None)
    where = f" at {len(stores):,} stores ({some_of(stores)})" if stores else ""
    return (
        f"{who}: the ERP's columns have changed{where}: {'; '.join(next(iter(changes.values())))}. If the ERP should not have changed them, ask its"
        " team (`shelfsync check` shows what is understood of each column; SHELFSYNC_ERP__CHANGED_COLUMNS)"
    )


def _last(connection: Connection, *those: sa.ColumnElement[bool]) -> dict[str | None, Any]:
    """The newest of those rows for each source."""
    statement = sa.select(source_columns).where(*those).ext(distinct_on(_COLUMN.vendor))
    rows = connection.execute(statement.order_by(_COLUMN.vendor, _COLUMN.source_columns_id.desc()))
    return {row.vendor: row for row in rows}


def _changes(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What is different, each as a sentence without a full stop."""
    new, gone = [name for name in now if name not in before], [name for name in before if name not in now]
    other = [name for name, kind in now.items() if _is_other(before.get(name, kind), kind)]
    found = [f"new: {some_of([repr(name) for name in new], 10)}"] if new else []
    found += [f"gone: {some_of([repr(name) for name in gone], 10)}"] if gone else []
    return found + [f"{name!r} is of the type {now[name]} and was {before[name]}" for name in other[:10]]


def _is_other(before: str, now: str) -> bool:
    """Whether a type is another; `a value` is one that the reading then could not name."""
    return before != now and ("text" in {before, now} or "a value" not in {before, now})
