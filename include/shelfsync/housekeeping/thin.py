"""Removes outcomes that only repeat what held already: a daily full sync says ten million of them, and a year of them says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.ledger.instant import instant

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.engine import Engine

_JOBS = (
    "SELECT job_id FROM warehouse.catalog_job WHERE repeats_removed IS NULL AND settled_at < :cutoff ORDER BY job_id"
)
_REPEATS = "FROM warehouse.sku_outcome WHERE job_id = :job_id AND state = 'accepted' AND change = 'same'"


def thin(engine: Engine, *, older_than: dt.timedelta, dry_run: bool = False) -> int:
    """How many rows went, or with `dry_run` would go; one job a transaction. What was refused, unaccounted or changed stays."""
    gone = 0
    with engine.connect() as connection:
        cutoff = connection.execute(sa.select(instant() - older_than)).scalar_one()
        jobs = connection.execute(sa.text(_JOBS), {"cutoff": cutoff}).scalars().all()
    for job_id in jobs:
        with engine.begin() as connection:
            if dry_run:
                gone += connection.execute(sa.text(f"SELECT count(*) {_REPEATS}"), {"job_id": job_id}).scalar_one()
                continue
            removed = connection.execute(sa.text(f"DELETE {_REPEATS}"), {"job_id": job_id}).rowcount
            connection.execute(
                sa.text("UPDATE warehouse.catalog_job SET repeats_removed = :removed WHERE job_id = :job_id"),
                {"job_id": job_id, "removed": removed},
            )
            gone += removed
    return gone
