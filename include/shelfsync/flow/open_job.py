"""The open job of one vendor, looked at before the vendor is worked on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.flow.acknowledge import acknowledge
from shelfsync.flow.confirm import confirm
from shelfsync.ledger import jobs, runs

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.jobs import Job


def finish_open_job(parts: Parts, job: Job) -> tuple[Job | None, str | None]:
    """Confirms and acknowledges it if the platform has ended it; the job that is left open, or None, and what went wrong with it.

    What else its run has planned is left to the newer one that asks, which says it with newer values; but for a full sync.
    """
    with parts.engine.connect() as connection:
        full = runs.read_run(connection, job.run_id).full
    asked = confirm(parts, job.run_id, [job.vendor])
    told = acknowledge(parts, job.run_id, [job.vendor], go_on=full)
    trouble = told.failed.get(job.vendor, asked.failed.get(job.vendor))
    with parts.engine.connect() as connection:
        return jobs.open_job_of(connection, job.vendor), trouble
