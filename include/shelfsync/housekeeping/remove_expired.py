"""All of the housekeeping, in order: lost runs are closed, then rows and repeated outcomes go, then partitions, then unused files.

Rows go by a rule, some thousands a transaction, never one that another row points to.

Files of the lake go when no row points to them. Every column that holds a path of the lake declares it (`info=LAKE_FILE`). The sweep reads
the declared tables, so a new table needs no entry here.
"""

from __future__ import annotations

import datetime as dt
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.ledger import runs
from shelfsync.catalog.state import RunState
from shelfsync.catalog.steps.run import unfinished
from shelfsync.catalog.warehouse import record
from shelfsync.housekeeping.repeated_outcomes import remove_repeated_outcomes
from shelfsync.housekeeping.rules import NEWEST_SNAPSHOT, rules
from shelfsync.promotions.ledger import runs as promotion_runs
from shelfsync.promotions.warehouse import record as promotion_record
from shelfsync.store.metadata import instant
from shelfsync.store.partitions import retire
from shelfsync.warehouse.every_table import metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy.engine import Connection, Engine

    from shelfsync.context import Context
    from shelfsync.housekeeping.rules import Rule
    from shelfsync.store.lake import LakeFile

log = logging.getLogger(__name__)

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
_LOST = """
SELECT run_id FROM ledger.run WHERE state = 'running' AND started_at < :cutoff
AND NOT EXISTS (SELECT 1 FROM ledger.vendor_run AS v WHERE v.run_id = run.run_id AND v.updated_at >= :cutoff)
AND NOT EXISTS (SELECT 1 FROM ledger.batch AS b WHERE b.run_id = run.run_id AND b.state = 'planned')
AND NOT EXISTS (SELECT 1 FROM ledger.batch AS b JOIN ledger.job AS j USING (batch_id)
                WHERE b.run_id = run.run_id AND j.state IN ('submitting', 'open', 'confirmed'))
ORDER BY run_id
"""
"""A repeated task keeps the start of its run, so the query reads its vendors too. A run with open work is left to `recover`."""
_LOST_PROMOTIONS = """
SELECT run_id FROM ledger.promotion_run WHERE state IN ('running', 'planned') AND coalesce(planned_at, started_at) < :cutoff
AND NOT EXISTS (SELECT 1 FROM ledger.promotion_request AS q JOIN ledger.job AS j USING (request_id)
                WHERE q.run_id = promotion_run.run_id AND j.state IN ('planned', 'submitting', 'open', 'confirmed'))
ORDER BY run_id
"""
_NO_REPORT = (
    "it never came to its report: its process was killed, timed out or was marked failed; housekeeping closed it"
)


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


def close_lost_runs(context: Context, *, older_than: dt.timedelta, dry_run: bool = False) -> int:
    """How many runs of catalog and promotions were closed as failed, or with `dry_run` would be.

    The vendors of a catalog run that did not end are reported as the report reports them.
    """
    closed = 0
    for of_kind, close in ((_LOST, _close_run), (_LOST_PROMOTIONS, _close_run_of_promotions)):
        with context.engine.connect() as connection:
            cutoff = connection.execute(sa.select(instant() - older_than)).scalar_one()
            lost = list(connection.execute(sa.text(of_kind), {"cutoff": cutoff}).scalars())
        for run_id in () if dry_run else lost:
            with context.engine.begin() as connection:
                close(connection, run_id)
        closed += len(lost)
    return closed


def _close_run(connection: Connection, run_id: int) -> None:
    unfinished(connection, run_id)
    runs.close_run(connection, run_id, state=RunState.FAILED, error=_NO_REPORT)
    record.RUN.copy(connection, [run_id])


def _close_run_of_promotions(connection: Connection, run_id: int) -> None:
    promotion_runs.close(connection, run_id, state="failed", error=_NO_REPORT)
    promotion_record.RUN.copy(connection, [run_id])


_RECENT = f"""
updated_at > :recent
OR NOT (SELECT planning.dry_run FROM ledger.run AS planning WHERE planning.run_id = vendor_run.run_id) AND (
    state NOT IN ('acknowledged', 'unchanged', 'superseded', 'failed', 'busy')
    OR generation >= {NEWEST_SNAPSHOT.format(row="vendor_run")}
    OR EXISTS (SELECT 1 FROM ledger.hold WHERE hold.subject = 'catalog' AND hold.run_id = vendor_run.run_id AND hold.vendor = vendor_run.vendor AND hold.state = 'open'))
"""  # noqa: S608  constants of ours
_ONLY = {
    ("ledger.vendor_run", "raw_path"): _RECENT,
    ("ledger.vendor_run", "reported_path"): "missed IS NULL AND updated_at > :recent",
    ("ledger.vendor_run", "snapshot_path"): _RECENT,
    ("ledger.vendor_run", "erp_path"): _RECENT,
    ("ledger.batch", "snapshot_path"): "state IN ('planned', 'sent')",
    (
        "ledger.feed",
        "categories_path",
    ): "generation = (SELECT max(n.generation) FROM ledger.feed AS n WHERE n.vendor = feed.vendor"
    " AND n.categories_path IS NOT NULL)",
    (
        "ledger.feed",
        "unrestored_path",
    ): "generation = (SELECT max(n.generation) FROM ledger.feed AS n WHERE n.vendor = feed.vendor)",
}
"""Files of a whole vendor that only the newest rows need: elsewhere the path shows which content it is. One that is gone
counts as unknown for a later reader."""

FILES_A_QUESTION = 10_000
_USED = sa.table("used_path", sa.column("path", sa.Text))


@dataclass(frozen=True)
class Swept:
    """The files found and removed."""

    files: int
    removed: int
    removed_bytes: int


def sweep(context: Context, *, grace: dt.timedelta, recent: dt.timedelta, dry_run: bool = False) -> Swept:
    """Looks at every file of the lake, a folder of one vendor at a time; those in use, or younger than `grace`, stay.

    Raw rows and snapshots are in use for `recent` after their run, and as long as they are their vendor's newest; those of a dry run, which
    nothing is ever sent from, for `recent` alone.
    """
    before = context.clock.now() - grace
    files = removed = removed_bytes = 0
    with context.engine.connect() as connection:
        _mark(connection, recent)
        for folder in context.lake.folders():
            held = context.lake.files(folder)
            files += len(held)
            old = [file for file in held if file.modified_at < before]
            for file in _unused(connection, old):
                if dry_run or context.lake.remove(file.path, not_after=before):
                    removed += 1
                    removed_bytes += file.bytes
    removed += 0 if dry_run else context.lake.clear_staging(before)
    log.info("housekeeping: lake: %d files, %d removed (%d bytes)", files, removed, removed_bytes)
    return Swept(files, removed, removed_bytes)


def path_columns() -> list[sa.Column[str]]:
    """Every column whose paths protect files of the lake."""
    return [column for table in metadata.sorted_tables for column in table.columns if column.info.get("lake")]


def needed_paths(connection: Connection, recent: dt.timedelta) -> list[sa.Select[str]]:
    """One SELECT a column, of each path once: an index over many equal ones takes hours to build."""
    cutoff = connection.execute(sa.select(instant() - recent)).scalar_one()
    selects = []
    for column in path_columns():
        only = sa.text(f"({_ONLY.get((column.table.fullname, column.name), 'true')})")
        if ":recent" in only.text:
            only = only.bindparams(recent=cutoff)
        selects.append(sa.select(column).where(column.is_not(None), only).distinct())
    return selects


def _mark(connection: Connection, recent: dt.timedelta) -> None:
    """Every path that any row points to, in a temporary table: on disk, for any number of paths."""
    connection.execute(sa.text("CREATE TEMPORARY TABLE IF NOT EXISTS used_path (path text) ON COMMIT PRESERVE ROWS"))
    connection.execute(sa.text("TRUNCATE used_path"))
    for paths in needed_paths(connection, recent):
        connection.execute(_USED.insert().from_select(["path"], paths))
    connection.execute(sa.text("CREATE INDEX IF NOT EXISTS used_path_path ON used_path USING hash (path)"))
    connection.commit()
    connection.execute(sa.text("ANALYZE used_path"))
    connection.commit()


def _unused(connection: Connection, files: Sequence[LakeFile]) -> Iterable[LakeFile]:
    question = sa.text(
        "SELECT asked.path FROM unnest(cast(:paths AS text[])) AS asked (path)"
        " WHERE NOT EXISTS (SELECT 1 FROM used_path WHERE used_path.path = asked.path)"
    )
    for start in range(0, len(files), FILES_A_QUESTION):
        some = files[start : start + FILES_A_QUESTION]
        unused = set(connection.execute(question, {"paths": [file.path for file in some]}).scalars())
        connection.commit()
        yield from (file for file in some if file.path in unused)


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
