"""All of the housekeeping, in order: runs that were lost are closed, then rows, repeated outcomes, then partitions of the warehouse, then the files that nothing points to any more."""

from __future__ import annotations

import datetime as dt
import logging
from typing import TYPE_CHECKING, Any

from shelfsync.housekeeping.lost_runs import close_lost_runs
from shelfsync.housekeeping.prune import prune
from shelfsync.housekeeping.rules import rules
from shelfsync.housekeeping.sweep import sweep
from shelfsync.housekeeping.thin import thin
from shelfsync.warehouse.partitions import retire

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts

log = logging.getLogger(__name__)


def keep_house(parts: Parts, *, dry_run: bool = False) -> dict[str, Any]:
    """`{"runs_closed", "rows": {table: count}, "partitions": [...], "files", "files_removed", "bytes_removed", "lines"}`; running it twice removes nothing more.

    With `dry_run` nothing goes: what is counted for a table are the rows that could go now; more can when these have gone.
    """
    keep = parts.settings.housekeeping
    closed = close_lost_runs(parts, older_than=dt.timedelta(days=keep.file_days), dry_run=dry_run)
    rows: dict[str, int] = {}
    for rule in rules(keep, personal_days=parts.settings.orders.personal_days):
        rows[rule.table] = rows.get(rule.table, 0) + prune(parts.engine, rule, dry_run=dry_run)
    rows["warehouse.sku_outcome"] = thin(parts.engine, older_than=dt.timedelta(days=keep.repeat_days), dry_run=dry_run)
    partitions = [] if dry_run else _retire(parts)
    grace, recent = dt.timedelta(hours=keep.lake_grace_hours), dt.timedelta(days=keep.file_days)
    swept = sweep(parts, grace=grace, recent=recent, dry_run=dry_run)
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


def _retire(parts: Parts) -> list[str]:
    with parts.engine.begin() as connection:
        return retire(connection, months=parts.settings.warehouse.outcome_months)
