"""All of the housekeeping, in order: lost runs are closed, then rows and repeated outcomes go, then partitions, then unused files.

Rows go by a rule, some thousands a transaction, never one that another row points to.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.housekeeping.lost_runs import close_lost_runs
from shelfsync.housekeeping.old_months import drop_old_months
from shelfsync.housekeeping.repeated_outcomes import remove_repeated_outcomes
from shelfsync.housekeeping.rules import rules
from shelfsync.housekeeping.unused_files import sweep
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

    from shelfsync.context import Context
    from shelfsync.housekeeping.rules import Rule

ROWS_A_TRANSACTION = 5_000
"""A transaction of this size holds locks for a fraction of a second."""

_REFERENCES = """
SELECT c.conrelid::regclass::text AS child,
       array_agg(ca.attname::text ORDER BY k.place) AS child_columns,
       array_agg(pa.attname::text ORDER BY k.place) AS parent_columns
FROM pg_constraint AS c
CROSS JOIN LATERAL unnest(c.conkey, c.confkey) WITH ORDINALITY AS k (child, parent, place)
JOIN pg_attribute AS ca ON ca.attrelid = c.conrelid AND ca.attnum = k.child
JOIN pg_attribute AS pa ON pa.attrelid = c.confrelid AND pa.attnum = k.parent
WHERE c.contype = 'f' AND c.confrelid = to_regclass(:parent) AND c.conparentid = 0
GROUP BY c.oid, c.conrelid
ORDER BY child
"""


def prune(engine: Engine, rule: Rule, *, dry_run: bool = False) -> int:
    """How many rows went, or with `dry_run` would go by this rule alone. A table that is not there counts as empty."""
    with engine.connect() as connection:
        if connection.execute(sa.text("SELECT to_regclass(:table)"), {"table": rule.table}).scalar_one() is None:
            return 0
        where = f"({rule.where}) AND {_unreferenced(connection, rule.table)}"
        cutoff = connection.execute(
            sa.select(instant() - sa.func.make_interval(0, 0, 0, 0, 0, 0, rule.days * 86_400))
        ).scalar_one()
        if dry_run:
            count = sa.text(f"SELECT count(*) FROM {rule.table} AS old WHERE {where}")  # noqa: S608  constants of ours
            return int(connection.execute(count, {"cutoff": cutoff}).scalar_one())
    delete = sa.text(
        f"DELETE FROM {rule.table} WHERE ctid IN"  # noqa: S608
        f" (SELECT old.ctid FROM {rule.table} AS old WHERE {where} LIMIT {ROWS_A_TRANSACTION})"
    )
    gone = 0
    while True:
        with engine.begin() as connection:
            removed = connection.execute(delete, {"cutoff": cutoff}).rowcount
        gone += removed
        if removed < ROWS_A_TRANSACTION:
            return gone


def _unreferenced(connection: Connection, table: str) -> str:
    """A condition on `old`: no row of any table points to it, whatever tables there are."""
    conditions = ["true"]
    for reference in connection.execute(sa.text(_REFERENCES), {"parent": table}):
        pairs = zip(reference.child_columns, reference.parent_columns, strict=True)
        same = " AND ".join(f'child."{child}" = old."{parent}"' for child, parent in pairs)
        conditions.append(f"NOT EXISTS (SELECT 1 FROM {reference.child} AS child WHERE {same})")  # noqa: S608
    return " AND ".join(conditions)


def remove_expired(context: Context, *, dry_run: bool = False) -> dict[str, Any]:
    """`{"runs_closed", "rows": {table: count}, "partitions": [...], "files", "files_removed", "bytes_removed", "lines"}`; running it twice removes nothing more.

    With `dry_run` nothing goes: what is counted for a table are the rows that could go now; more can when these have gone.
    """
    keep = context.settings.housekeeping
    closed = close_lost_runs(context, older_than=dt.timedelta(days=keep.snapshot_days), dry_run=dry_run)
    rows: dict[str, int] = {}
    for rule in rules(keep, customer_days=context.settings.orders.customer_days):
        engine = context.limits if rule.table.startswith("rate_limit.") else context.engine
        rows[rule.table] = rows.get(rule.table, 0) + prune(engine, rule, dry_run=dry_run)
    rows["warehouse.sku_outcome"] = remove_repeated_outcomes(
        context.engine, older_than=dt.timedelta(days=keep.repeated_outcome_days), dry_run=dry_run
    )
    partitions = [] if dry_run else _old_months(context)
    grace, recent = dt.timedelta(hours=keep.lake_grace_hours), dt.timedelta(days=keep.snapshot_days)
    swept = sweep(context, grace=grace, recent=recent, dry_run=dry_run)
    gone = {table: count for table, count in rows.items() if count}
    word = "could go" if dry_run else "removed"
    lines = (
        [f"{closed:,} runs that never came to their report {'could be' if dry_run else 'were'} closed"]
        if closed
        else []
    )
    lines += [f"{table}: {count:,} rows {word}" for table, count in gone.items()]
    lines += [f"warehouse: partition {name} {word}" for name in partitions]
    lines.append(f"lake: {swept.removed:,} of {swept.files:,} files {word} ({swept.removed_bytes / 1e6:,.1f} MB)")
    return {
        "runs_closed": closed,
        "rows": gone,
        "partitions": partitions,
        "files": swept.files,
        "files_removed": swept.removed,
        "bytes_removed": swept.removed_bytes,
        "lines": lines,
    }


def _old_months(context: Context) -> list[str]:
    with context.engine.begin() as connection:
        return drop_old_months(connection, months=context.settings.warehouse.outcome_months)
