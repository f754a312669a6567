"""Rows of an extract that name no usable vendor: in the quarantine, and counted here by reason for whoever looks."""

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
WHERE NOT run.dry_run AND (CAST(:before AS bigint) IS NULL OR extract.run_id < :before)
"""


def of_run(connection: Connection, run_id: int | None) -> list[dict[str, Any]]:
    """`{"reason", "rows", "message"}` for each reason; the message is that of one of the rows."""
    return [dict(row) for row in connection.execute(sa.text(_OF_RUN), {"run": run_id}).mappings()]


def of_last(connection: Connection, *, before: int | None = None) -> list[dict[str, Any]]:
    """The same of the last extract (before this run) that was no dry run."""
    return of_run(connection, connection.execute(sa.text(_LAST), {"before": before}).scalar_one_or_none())


def news(connection: Connection, run_id: int) -> list[dict[str, Any]]:
    """What this run set aside for a reason that the extract before it did not have: each is reported once."""
    known = {one["reason"] for one in of_last(connection, before=run_id)}
    return [one for one in of_run(connection, run_id) if one["reason"] not in known]


def lines(found: list[dict[str, Any]]) -> list[str]:
    """One line for a person; none where nothing was set aside."""
    if not found:
        return []
    rows = sum(one["rows"] for one in found)
    reasons = ", ".join(f"{one['rows']:,} {one['reason']}" for one in found)
    line = (
        f"{rows:,} rows name no usable vendor and were set aside ({reasons}), the first because {found[0]['message']}."
    )
    return [f"{line} Correct the ERP's vendor column; see warehouse.quarantine, vendor ''"]
