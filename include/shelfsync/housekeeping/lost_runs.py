"""Closes runs that never came to their report: killed, timed out or marked failed, they would say `running` and keep everything for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.flow.run import unfinished
from shelfsync.ledger import runs
from shelfsync.ledger.instant import instant
from shelfsync.warehouse import record

if TYPE_CHECKING:
    import datetime as dt

    from shelfsync.flow.house import Parts

_LOST = """
SELECT run_id FROM ledger.run WHERE state = 'running' AND started_at < :cutoff
AND NOT EXISTS (SELECT 1 FROM ledger.vendor_run AS v WHERE v.run_id = run.run_id AND v.updated_at >= :cutoff)
AND NOT EXISTS (SELECT 1 FROM ledger.batch AS b WHERE b.run_id = run.run_id AND b.state = 'planned')
AND NOT EXISTS (SELECT 1 FROM ledger.batch AS b JOIN ledger.job AS j USING (batch_id)
                WHERE b.run_id = run.run_id AND j.state IN ('submitting', 'open', 'confirmed'))
ORDER BY run_id
"""
"""A run that a task took up again keeps its start, so its vendors are asked too; one with something on its way is for `settle`."""


def close_lost_runs(parts: Parts, *, older_than: dt.timedelta, dry_run: bool = False) -> int:
    """How many were closed as failed, or with `dry_run` would be; their vendors that did not end are told as the report tells them."""
    with parts.engine.connect() as connection:
        cutoff = connection.execute(sa.select(instant() - older_than)).scalar_one()
        lost = list(connection.execute(sa.text(_LOST), {"cutoff": cutoff}).scalars())
    for run_id in () if dry_run else lost:
        with parts.engine.begin() as connection:
            unfinished(connection, run_id)
            error = "it never came to its report: its process was killed, timed out or was marked failed; housekeeping closed it"
            runs.close_run(connection, run_id, state="failed", error=error)
            record.record_run(connection, run_id)
    return len(lost)
