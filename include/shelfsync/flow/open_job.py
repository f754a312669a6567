"""The open job of one vendor, looked at before the vendor is worked on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.flow.acknowledge import acknowledge
from shelfsync.flow.confirm import confirm
from shelfsync.ledger import jobs

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.jobs import Job


def finish_open_job(parts: Parts, job: Job) -> tuple[Job | None, str | None]:
    """Confirms and acknowledges it if the platform has ended it; the job that is left open, or None, and what went wrong with it."""
    trouble = None
    for step in (confirm, acknowledge):
        told = step(parts, job.run_id, [job.vendor])
        trouble = told.failed.get(job.vendor, trouble)
    with parts.engine.connect() as connection:
        return jobs.open_job_of(connection, job.vendor), trouble
