"""Accepted outcomes that changed nothing go after some days: a daily full sync writes ten million of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.store.metadata import instant

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.engine import Engine

_JOBS = "SELECT job_id FROM warehouse.catalog_job WHERE repeats_removed IS NULL AND ended_at < :cutoff ORDER BY job_id"
_REPEATS = "FROM warehouse.sku_outcome WHERE job_id = :job_id AND state = 'accepted' AND change = 'same'"


def remove_repeated_outcomes(engine: Engine, *, older_than: dt.timedelta, dry_run: bool = False) -> int:
    """Returns how many rows it removed, or with `dry_run` would remove; one job per transaction. Rejected, unaccounted and changed rows stay."""
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
