"""overview: the status with what a person reads first. One sentence, the condition of each store, and the figures of the last day."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.ledger import restorations
from shelfsync.catalog.overview_sentence import sentence
from shelfsync.catalog.steps.status import status, vendor_rows
from shelfsync.catalog.store_condition import BY_ITSELF, condition, shows_the_erp, words
from shelfsync.catalog.warehouse import drift
from shelfsync.catalog.warehouse.rows_by_reason import REJECTED, groups
from shelfsync.decisions.ledger import holds
from shelfsync.decisions.state import HoldState

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.context import Context

CAUSES = 20
"""More than there are."""
REASONS = 8
"""Reasons of rejections that a person sees at once; the list of rejections has them all."""

_READING = """
SELECT extract(epoch FROM ledger.instant() - (
        SELECT e.read_at FROM ledger.extract AS e JOIN ledger.run USING (run_id)
        WHERE NOT run.dry_run AND run.skus = '{}' AND run.vendors = '{}' ORDER BY e.extract_id DESC LIMIT 1)) AS ago_s,
    :every_s - extract(epoch FROM ledger.instant() - (
        SELECT started_at FROM ledger.run WHERE kind = 'delta' AND NOT dry_run AND skus = '{}' AND vendors = '{}' ORDER BY run_id DESC LIMIT 1)) AS next_s
"""
_ACCEPTANCE = """
SELECT coalesce(sum(job.sent), 0) AS sent, coalesce(sum(job.accepted), 0) AS accepted, coalesce(sum(job.rejected), 0) AS rejected,
    coalesce(sum(job.unaccounted), 0) AS unaccounted
FROM ledger.job
WHERE job.kind = 'catalog' AND job.ended_at > ledger.instant() - interval '1 day' AND job.accepted + job.rejected + job.unaccounted > 0
"""


def overview(context: Context) -> dict[str, Any]:
    """What `status` returns, and `sentence`, `reading`, `holds_waiting`, `acceptance`, `rejections` and `drift`.

    Each row of `vendors` has in addition its `condition`, `shows_the_erp`, the `words` of its last run, what happens `by_itself`, and its
    `restorations`.
    """
    late_s = context.settings.alerts.late_minutes * 60
    with ThreadPoolExecutor(1, thread_name_prefix="figures") as beside:  # half of the page is PostgreSQL's work
        figures = beside.submit(_figures, context)
        found = status(context)
        _describe(context, found["vendors"])
        found |= figures.result()
    return {"sentence": sentence(found, late_s=late_s + context.settings.sync.delta_interval_s), **found}


def of_store(context: Context, vendor: str) -> dict[str, Any] | None:
    """The row of one store alone, as `overview` has it among its `vendors`; None: it is unknown, or taken out."""
    rows = vendor_rows(context, [vendor])
    _describe(context, rows)
    return rows[0] if rows else None


def _figures(context: Context) -> dict[str, Any]:
    """What the first page has beside the status."""
    with context.engine.connect() as connection:
        return {
            "reading": _reading(connection, every_s=context.settings.sync.delta_interval_s),
            "holds_waiting": sum(hold.state == HoldState.OPEN for hold in holds.in_force(connection)),
            "acceptance": _acceptance(connection),
            "rejections": groups(connection, REJECTED, {}, most=REASONS),
            "drift": _drift(connection),
        }


def _describe(context: Context, rows: list[dict[str, Any]]) -> None:
    late_s = context.settings.alerts.late_minutes * 60
    with context.engine.connect() as connection:
        restored = restorations.in_force(connection)
    for row in rows:
        now = condition(row, late_s=late_s)
        row |= {"condition": str(now), "by_itself": BY_ITSELF[now], "words": words(row)}
        row["restorations"] = [str(one) for one in restored if one.vendor == row["vendor"]]
        row["shows_the_erp"] = shows_the_erp(row) and not row["restorations"]


def _reading(connection: Connection, *, every_s: float) -> dict[str, float | None]:
    row = connection.execute(sa.text(_READING), {"every_s": every_s}).mappings().one()
    return {name: None if value is None else float(value) for name, value in row.items()}


def _drift(connection: Connection) -> list[dict[str, Any]]:
    """Of the newest observation of each vendor."""
    found = drift.causes(connection, {}, most=CAUSES)
    return [{"cause": row["cause"], "differing": row["rows"], "stores": row["stores"]} for row in found]


def _acceptance(connection: Connection) -> dict[str, int]:
    """Of the jobs that ended in the last day."""
    row = connection.execute(sa.text(_ACCEPTANCE)).mappings().one()
    return {name: int(value) for name, value in row.items()}
