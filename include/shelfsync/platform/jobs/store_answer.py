"""Stores the number that the platform gave to an accepted job, by which it is polled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.errors import DataError
from shelfsync.platform.jobs import job as job_row

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from partner_api.jobs import Job as PlatformJob
    from shelfsync.context import Context
    from shelfsync.platform.jobs.table import Kind


def store_answer(context: Context, connection: Connection, kind: Kind, job_id: int, answer: PlatformJob) -> str | None:
    """Stores the number to poll by. Returns why the job cannot be polled, without a number or with that of another job; None: it can."""
    if answer.job_id is None:
        return "the platform accepted the request and named no job, so its result cannot be polled"
    first_s = context.kinds[kind].pace(context.settings).first_s
    if job_row.answered(connection, job_id, platform_job_id=answer.job_id, status=answer.status, poll_after_s=first_s):
        return None
    return f"the platform answered with job {answer.job_id}, which belongs to another request"


def unpollable(job_id: int, why: str) -> DataError:
    """The error of an accepted request whose job cannot be polled."""
    return DataError(f"job {job_id}: {why}; it will be sent again")
