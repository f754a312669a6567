"""The share of its last SKUs that the platform accepted of a store: what the alert on a small share judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import sqlalchemy as sa

from shelfsync.catalog.warehouse import tables
from shelfsync.platform.jobs.table import Kind
from shelfsync.platform.jobs.table import job as job_table
from shelfsync.store.metadata import after

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


class Acceptance(NamedTuple):
    """What the platform reported of a store's last SKUs."""

    vendor: str
    reported: int
    accepted: int


def acceptance(connection: Connection, *, skus: int, hours: float) -> list[Acceptance]:
    """Each vendor's last results of these hours: the newest jobs that together have so many SKUs. A vendor with fewer is left out.

    A new SKU that the platform rejects does not count once it has accepted any SKU of the vendor: it may have to create the product first.
    """
    since, outcome, earlier = after(-hours * 3600), tables.sku_outcome.c, job_table.alias()
    new = sa.and_(outcome.job_id == job_table.c.job_id, outcome.known_at > since, outcome.change == "new")
    rejected = sa.select(sa.func.count()).where(new, outcome.state == "rejected").scalar_subquery()
    known = sa.exists().where(
        earlier.c.vendor == job_table.c.vendor, earlier.c.kind == Kind.CATALOG, earlier.c.accepted > 0
    )
    of_new = sa.case((sa.and_(job_table.c.rejected > 0, known), rejected), else_=0)
    ended = sa.and_(job_table.c.kind == Kind.CATALOG, job_table.c.ended_at > since)
    judged = (job_table.c.accepted + job_table.c.rejected + job_table.c.unaccounted - of_new).label("reported")
    jobs = (
        sa.select(job_table.c.vendor, job_table.c.job_id, job_table.c.ended_at, job_table.c.accepted, judged)
        .where(ended)
        .subquery()
    )
    order = (jobs.c.ended_at.desc(), jobs.c.job_id.desc())
    newer = sa.func.sum(jobs.c.reported).over(partition_by=jobs.c.vendor, order_by=order) - jobs.c.reported
    last = sa.select(*jobs.c, newer.label("newer")).where(jobs.c.reported > 0).subquery()
    total = sa.func.sum(last.c.reported)
    statement = (
        sa.select(last.c.vendor, total, sa.func.sum(last.c.accepted))
        .where(last.c.newer < skus)
        .group_by(last.c.vendor)
        .having(total >= skus)
    )
    return [Acceptance(row[0], int(row[1]), int(row[2])) for row in connection.execute(statement)]
