"""Freshness: the time from a change in the ERP to the platform's acknowledgement, for each priority.

Only SKUs with a success line count.
It begins with the first extract that may have the change (the first since the vendor was last acknowledged). It ends with the job that
carried it. The ERP's wait for that extract is additional: at most one interval of the schedule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.ledger.batches import rank
from shelfsync.catalog.ledger.tables import batch
from shelfsync.platform.jobs.table import job
from shelfsync.store.instant import instant

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

LATELY = sa.text("interval '1 day'")
_NAMES = {"stop_sell": "stop-sells", "price": "price corrections", "catalog": "other changes"}


def of_run(connection: Connection, run_id: int) -> list[dict[str, Any]]:
    """A row a priority of one run: `{"priority", "jobs", "skus", "skus_beside", "seconds_median", "seconds_p95", "seconds_max"}`.

    The most urgent comes first. `skus_beside`: accepted SKUs that are less urgent and went in the same jobs.
    """
    return _priorities(connection, batch.c.run_id == run_id)


def of_lately(connection: Connection) -> list[dict[str, Any]]:
    """The same for all acknowledgements of the last 24 hours."""
    return _priorities(connection, job.c.ended_at > instant() - LATELY)


def sentence(priority: dict[str, Any]) -> str:
    """One of these rows for people."""
    beside = f"; {priority['skus_beside']:,} less urgent SKUs went with them" if priority["skus_beside"] else ""
    return (
        f"{_NAMES[priority['priority']]}: {priority['skus']:,} SKUs in {priority['jobs']:,} jobs acknowledged {priority['seconds_median']:.0f} s after the"
        f" ERP was read, {priority['seconds_max']:.0f} s at most{beside}"
    )


def _priorities(connection: Connection, where: sa.ColumnElement[bool]) -> list[dict[str, Any]]:
    took_s = sa.extract("epoch", job.c.ended_at - batch.c.wanted_at)
    accepted = sa.func.coalesce(job.c.urgent_accepted, sa.func.least(batch.c.urgent_count, job.c.accepted))
    statement = (
        sa.select(
            batch.c.priority,
            sa.func.count().label("jobs"),
            sa.cast(sa.func.sum(accepted), sa.BigInteger).label("skus"),
            sa.cast(sa.func.sum(job.c.accepted - accepted), sa.BigInteger).label("skus_beside"),
            sa.func.percentile_cont(0.5).within_group(took_s).label("seconds_median"),
            sa.func.percentile_cont(0.95).within_group(took_s).label("seconds_p95"),
            sa.func.max(took_s).label("seconds_max"),
        )
        .join(job, job.c.batch_id == batch.c.batch_id)
        .where(where, job.c.state == "acknowledged", accepted > 0, batch.c.wanted_at.is_not(None))
        .group_by(batch.c.priority)
        .order_by(sa.func.min(rank()))
    )
    rows = [dict(row) for row in connection.execute(statement).mappings()]
    return [
        {name: float(value) if name.startswith("seconds") else value for name, value in row.items()} for row in rows
    ]
