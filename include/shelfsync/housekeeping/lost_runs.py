"""A run that died before its report is closed as failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.catalog.ledger import runs
from shelfsync.catalog.state import RunState
from shelfsync.catalog.steps.run import unfinished
from shelfsync.catalog.warehouse import record
from shelfsync.promotions.ledger import runs as promotion_runs
from shelfsync.promotions.warehouse import record as promotion_record
from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.engine import Connection

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
_LOST_PROMOTIONS = """
SELECT run_id FROM ledger.promotion_run WHERE state IN ('running', 'planned') AND coalesce(planned_at, started_at) < :cutoff
AND NOT EXISTS (SELECT 1 FROM ledger.promotion_request AS q JOIN ledger.job AS j USING (request_id)
                WHERE q.run_id = promotion_run.run_id AND j.state IN ('planned', 'submitting', 'open', 'confirmed'))
ORDER BY run_id
"""
_NO_REPORT = (
    "it never came to its report: its process was killed, timed out or was marked failed; housekeeping closed it"
)


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
