"""Rows of an extract that name no usable vendor. They are in quarantine; this module counts them by reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_OF_RUN = """
SELECT reason, count(*) AS rows, min(message) AS message
FROM warehouse.quarantine WHERE run_id = :run AND vendor = '' GROUP BY reason ORDER BY reason
"""
_LAST = """
SELECT max(extract.run_id) FROM ledger.extract JOIN ledger.run USING (run_id)
WHERE NOT run.dry_run AND run.vendors = '{}' AND (CAST(:before AS bigint) IS NULL OR extract.run_id < :before)
"""


def of_run(connection: Connection, run_id: int | None) -> list[dict[str, Any]]:
    """`{"reason", "rows", "message"}` for each reason; the message is that of one of the rows."""
    return [dict(row) for row in connection.execute(sa.text(_OF_RUN), {"run": run_id}).mappings()]


def of_last(connection: Connection, *, before: int | None = None) -> list[dict[str, Any]]:
    """The same of the last extract (before this run) that was no dry run."""
    return of_run(connection, connection.execute(sa.text(_LAST), {"before": before}).scalar_one_or_none())


def news(connection: Connection, run_id: int) -> list[dict[str, Any]]:
    """What this run quarantined for a reason that the extract before it did not have, so that each is reported once."""
    known = {row["reason"] for row in of_last(connection, before=run_id)}
    return [row for row in of_run(connection, run_id) if row["reason"] not in known]


def lines(found: list[dict[str, Any]]) -> list[str]:
    """One line for the operator; none if no such row was quarantined."""
    if not found:
        return []
    rows = sum(row["rows"] for row in found)
    reasons = ", ".join(f"{row['rows']:,} {row['reason']}" for row in found)
    line = f"{rows:,} rows name no usable vendor and were quarantined ({reasons}), the first because {found[0]['message']}."
    return [f"{line} Correct the ERP's vendor column; `shelfsync quarantine` shows the rows"]
