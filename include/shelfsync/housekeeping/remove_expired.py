"""All of the housekeeping, in order: runs that were lost are closed, then rows, repeated outcomes, then partitions of the warehouse, then the files that nothing points to any more."""

from __future__ import annotations

import datetime as dt
import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.ledger import runs
from shelfsync.catalog.state import RunState
from shelfsync.catalog.steps.run import unfinished
from shelfsync.catalog.warehouse import record
from shelfsync.housekeeping.prune import prune, thin
from shelfsync.housekeeping.rules import rules
from shelfsync.housekeeping.sweep import sweep
from shelfsync.store.instant import instant
from shelfsync.store.partitions import retire

if TYPE_CHECKING:
    from shelfsync.context import Context

_LOST = """
SELECT run_id FROM ledger.run WHERE state = 'running' AND started_at < :cutoff
AND NOT EXISTS (SELECT 1 FROM ledger.vendor_run AS v WHERE v.run_id = run.run_id AND v.updated_at >= :cutoff)
AND NOT EXISTS (SELECT 1 FROM ledger.batch AS b WHERE b.run_id = run.run_id AND b.state = 'planned')
AND NOT EXISTS (SELECT 1 FROM ledger.batch AS b JOIN ledger.job AS j USING (batch_id)
                WHERE b.run_id = run.run_id AND j.state IN ('submitting', 'open', 'confirmed'))
ORDER BY run_id
"""
"""A repeated task keeps the start of its run, so the query reads its vendors too. A run with open work is left to `recover`."""


def close_lost_runs(context: Context, *, older_than: dt.timedelta, dry_run: bool = False) -> int:
    """How many were closed as failed, or with `dry_run` would be; their vendors that did not end are reported as the report reports them."""
    with context.engine.connect() as connection:
        cutoff = connection.execute(sa.select(instant() - older_than)).scalar_one()
        lost = list(connection.execute(sa.text(_LOST), {"cutoff": cutoff}).scalars())
    for run_id in () if dry_run else lost:
        with context.engine.begin() as connection:
            unfinished(connection, run_id)
            error = "it never came to its report: its process was killed, timed out or was marked failed; housekeeping closed it"
            runs.close_run(connection, run_id, state=RunState.FAILED, error=error)
            record.record_run(connection, run_id)
    return len(lost)


log = logging.getLogger(__name__)


def remove_expired(context: Context, *, dry_run: bool = False) -> dict[str, Any]:
    """`{"runs_closed", "rows": {table: count}, "partitions": [...], "files", "files_removed", "bytes_removed", "lines"}`; running it twice removes nothing more.

    With `dry_run` nothing goes: what is counted for a table are the rows that could go now; more can when these have gone.
    """
    keep = context.settings.housekeeping
    closed = close_lost_runs(context, older_than=dt.timedelta(days=keep.snapshot_days), dry_run=dry_run)
    rows: dict[str, int] = {}
    for rule in rules(keep, customer_days=context.settings.orders.customer_days):
        rows[rule.table] = rows.get(rule.table, 0) + prune(context.engine, rule, dry_run=dry_run)
    rows["warehouse.sku_outcome"] = thin(
        context.engine, older_than=dt.timedelta(days=keep.repeated_outcome_days), dry_run=dry_run
    )
    partitions = [] if dry_run else _retire(context)
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


def _retire(context: Context) -> list[str]:
    with context.engine.begin() as connection:
        return retire(connection, months=context.settings.warehouse.outcome_months)
