"""run_history: the runs of the catalog in the ledger: what each did, for which vendors, what it holds, and what to run next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import display, outages
from shelfsync.catalog.ledger import runs
from shelfsync.catalog.ledger.tables import run
from shelfsync.catalog.next_command import next_command
from shelfsync.catalog.state import RunState
from shelfsync.errors import DataError
from shelfsync.store.keyset_list import KeysetList, Order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

    from shelfsync.context import Context

_OF_VENDORS = """count(*) AS vendors, count(*) FILTER (WHERE state = 'failed') AS vendors_failed,
    count(*) FILTER (WHERE state IN ('busy', 'superseded')) AS vendors_passed_over,
    coalesce(sum(rows_raw), 0)::bigint AS rows_read, coalesce(sum(rows_quarantined), 0)::bigint AS rows_quarantined,
    coalesce(sum(values_left_out), 0)::bigint AS values_left_out,
    coalesce(sum(changes_new + changes_changed + changes_removed), 0)::bigint AS skus_changed,
    coalesce(sum(changes_held), 0)::bigint AS skus_held"""
_OF_JOBS = """coalesce(sum(job.sent), 0)::bigint AS sent, coalesce(sum(job.accepted), 0)::bigint AS accepted,
    coalesce(sum(job.rejected), 0)::bigint AS rejected, coalesce(sum(job.unaccounted), 0)::bigint AS unaccounted"""
_COUNTS = f"SELECT run_id, {_OF_VENDORS} FROM ledger.vendor_run WHERE run_id = ANY(:runs) GROUP BY run_id"  # noqa: S608  of constants
_SENT = f"""
SELECT batch.run_id, {_OF_JOBS}
FROM ledger.batch JOIN ledger.job USING (batch_id)
WHERE batch.run_id = ANY(:runs) AND job.state <> 'superseded' GROUP BY batch.run_id
"""  # noqa: S608  of constants
_NONE = {
    "vendors": 0,
    "vendors_failed": 0,
    "vendors_passed_over": 0,
    "rows_read": 0,
    "rows_quarantined": 0,
    "values_left_out": 0,
    "skus_changed": 0,
    "skus_held": 0,
    "sent": 0,
    "accepted": 0,
    "rejected": 0,
    "unaccounted": 0,
}
_VENDORS = """
SELECT vendor, state, failed_step, error, rows_raw AS rows_read, rows_quarantined, values_left_out,
    changes_new + changes_changed + changes_removed AS skus_changed, changes_held AS skus_held, (
        SELECT coalesce(sum(hold.rows), 0)::bigint FROM ledger.hold
        WHERE hold.subject = 'catalog' AND hold.run_id = vendor_run.run_id AND hold.vendor = vendor_run.vendor AND hold.state = 'approved'
    ) AS rows_approved, updated_at
FROM ledger.vendor_run WHERE run_id = :run ORDER BY vendor
"""
_HOLDS = """
SELECT hold_id, vendor, rule, category, rows, state, message FROM ledger.hold
WHERE subject = 'catalog' AND :run IN (first_run_id, run_id) ORDER BY hold_id
"""


RUNS = KeysetList(
    f"""(
    SELECT run.run_id, run.run_key, run.kind, run.dry_run, run.skus <> '{{}}' AS urgent, run.state, run.started_at AS began_at,
        run.finished_at AS ended_at, of_vendors.*, of_jobs.*, run.error
    FROM ledger.run
    CROSS JOIN LATERAL (SELECT {_OF_VENDORS} FROM ledger.vendor_run WHERE vendor_run.run_id = run.run_id) AS of_vendors
    CROSS JOIN LATERAL (
        SELECT {_OF_JOBS} FROM ledger.batch JOIN ledger.job USING (batch_id)
        WHERE batch.run_id = run.run_id AND job.state <> 'superseded'
    ) AS of_jobs
) AS listed""",  # noqa: S608  of constants
    ("run_id", "kind", "dry_run", "urgent", "state", "began_at", "ended_at", *_NONE, "error", "run_key"),
    {"kind": "kind = :kind", "state": "state = :state"},
    {
        "newest": Order((("run_id", "bigint"),), newest_first=True),
        "oldest": Order((("run_id", "bigint"),)),
    },
)
"""The runs with their counts, for a page and a file."""


def listed(
    context: Context, *, limit: int = 20, kind: str | None = None, state: str | None = None
) -> list[dict[str, Any]]:
    """The last runs, newest first: kind, state, when each began and ended, and its counts."""
    statement = _select().order_by(run.c.run_id.desc()).limit(limit)
    for column, wanted in ((run.c.kind, kind), (run.c.state, state)):
        statement = statement if wanted is None else statement.where(column == wanted)
    with context.engine.connect() as connection:
        return _with_counts(connection, statement)


def shown(context: Context, run_id: int) -> dict[str, Any]:
    """One run with its vendors, the holds with changes of it, and `next`: the command to run, None where nothing is to be done."""
    with context.engine.connect() as connection:
        found = _with_counts(connection, _select().where(run.c.run_id == run_id))
        if not found:
            raise DataError(f"runs: there is no run {run_id}; `shelfsync runs list` shows the last ones")
        vendors = _rows(connection, _VENDORS, run=run_id)
        holds = _rows(connection, _HOLDS, run=run_id)
        (row,) = found
        away = outages.since(connection, row["began_at"], row["ended_at"])
    return {**row, "of_vendors": vendors, "holds": holds, "outages": away, "next": next_command(row, vendors, holds)}


def _select() -> sa.Select[Any]:
    return sa.select(
        run.c.run_id,
        run.c.run_key,
        run.c.kind,
        run.c.dry_run,
        run.c.state,
        run.c.started_at.label("began_at"),
        run.c.finished_at.label("ended_at"),
        run.c.error,
        run.c.vendors.label("vendors_asked"),
        run.c.skus,
        sa.and_(run.c.state == RunState.RUNNING, runs.alive()).label("alive"),
    )


def _with_counts(connection: Connection, statement: sa.Select[Any]) -> list[dict[str, Any]]:
    rows = [dict(row) for row in connection.execute(statement).mappings()]
    counts = {row["run_id"]: dict(_NONE) for row in rows}
    for query in (_COUNTS, _SENT):
        for found in _rows(connection, query, runs=list(counts)):
            counts[found["run_id"]] |= found
    return [{**row, **counts[row["run_id"]]} for row in rows]


def _rows(connection: Connection, query: str, **bound: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(sa.text(query), bound).mappings()]


def lines(rows: Iterable[dict[str, Any]]) -> list[str]:
    """One line a run."""
    return [
        f"{row['run_id']:>6}  {row['kind']}{' (dry)' if row['dry_run'] else ''}  {row['state']:<13}"
        f"  {display.instant(row['began_at'])} to {_end(row)}  {row['vendors']} vendors,"
        f" {row['skus_changed']:,} SKUs changed, {row['sent']:,} sent, {row['accepted']:,} accepted,"
        f" {row['rejected']:,} rejected" + (f": {row['error']}" if row["error"] else "")
        for row in rows
    ]


def details(row: dict[str, Any]) -> list[str]:
    """One run for a person: its sums, then one line a vendor and a hold, then what to run."""
    report = [*lines([row]), f"        {row['run_key']}"]
    for vendor in row["of_vendors"]:
        failed = f" at {vendor['failed_step']}" if vendor["failed_step"] else ""
        approved = f" ({vendor['rows_approved']:,} of them approved since)" if vendor["rows_approved"] else ""
        left_out = f", {vendor['values_left_out']:,} values left out" if vendor["values_left_out"] else ""
        why = f": {vendor['error']}" if vendor["error"] else ""
        report.append(
            f"vendor {vendor['vendor']}: {vendor['state']}{failed}, {vendor['skus_changed']:,} SKUs changed,"
            f" {vendor['skus_held']:,} held{approved}, {vendor['rows_quarantined']:,} rows quarantined{left_out}{why}"
        )
    report += outages.lines(row["outages"])
    report += [
        f"hold {hold['hold_id']} ({hold['vendor']}, {hold['rule']}, {hold['rows']:,} rows) is {hold['state']}: {hold['message']}"
        for hold in row["holds"]
    ]
    return [*report, *([f"next: {row['next']}"] if row["next"] else [])]


def _end(row: dict[str, Any]) -> str:
    return "now" if row["ended_at"] is None else display.time(row["ended_at"], row["began_at"])
