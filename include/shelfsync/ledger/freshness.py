"""How long it takes from a change in the ERP to the platform's word that it has it, lane by lane.

Only SKUs with a success line count; a job of which the platform accepted none has no part in it.
Counted from the first reading that may have seen the change (the first since the vendor was last in step), to the end of the job that
carried it: never too short. What the ERP waited for that reading comes on top: at most one interval of the schedule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.ledger.batches import rank
from shelfsync.ledger.instant import instant
from shelfsync.ledger.tables import batch, job

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

LATELY = sa.text("interval '1 day'")
_NAMES = {"stop_sell": "stop-sells", "price": "price corrections", "catalog": "other changes"}


def of_run(connection: Connection, run_id: int) -> list[dict[str, Any]]:
    """A row a lane of one run: `{"lane", "jobs", "skus", "seconds_median", "seconds_p95", "seconds_max"}`, most urgent first."""
    return _lanes(connection, batch.c.run_id == run_id)


def of_lately(connection: Connection) -> list[dict[str, Any]]:
    """The same of all that was acknowledged in the last 24 hours."""
    return _lanes(connection, job.c.settled_at > instant() - LATELY)


def sentence(lane: dict[str, Any]) -> str:
    """One of these rows for people."""
    return (
        f"{_NAMES[lane['lane']]}: {lane['skus']:,} SKUs in {lane['jobs']:,} jobs acknowledged {lane['seconds_median']:.0f} s after the"
        f" ERP was read, {lane['seconds_max']:.0f} s at most"
    )


def _lanes(connection: Connection, where: sa.ColumnElement[bool]) -> list[dict[str, Any]]:
    took_s = sa.extract("epoch", job.c.settled_at - batch.c.wanted_at)
    accepted = sa.func.coalesce(job.c.urgent_accepted, sa.func.least(batch.c.urgent_count, job.c.accepted))
    statement = (
        sa.select(
            batch.c.lane,
            sa.func.count().label("jobs"),
            sa.cast(sa.func.sum(accepted), sa.BigInteger).label("skus"),
            sa.func.percentile_cont(0.5).within_group(took_s).label("seconds_median"),
            sa.func.percentile_cont(0.95).within_group(took_s).label("seconds_p95"),
            sa.func.max(took_s).label("seconds_max"),
        )
        .join(job, job.c.batch_id == batch.c.batch_id)
        .where(where, job.c.state == "acknowledged", accepted > 0, batch.c.wanted_at.is_not(None))
        .group_by(batch.c.lane)
        .order_by(sa.func.min(rank()))
    )
    rows = [dict(row) for row in connection.execute(statement).mappings()]
    return [
        {name: float(value) if name.startswith("seconds") else value for name, value in row.items()} for row in rows
    ]
