"""The events of a job: which of them count, which are quarantined, and which came after its end."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import metrics
from shelfsync.errors import DataError
from shelfsync.inbox import events
from shelfsync.platform.jobs.job import reason_of, stops_every_job
from shelfsync.platform.jobs.table import ENDED_STATES
from shelfsync.store.metadata import one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shelfsync.context import Context
    from shelfsync.inbox.events import JobEvent
    from shelfsync.platform.jobs.job import Job

log = logging.getLogger(__name__)

_LATE = f"""
UPDATE inbox.event AS late SET processed_at = clock_timestamp()
WHERE late.kind = 'job' AND late.processed_at IS NULL AND EXISTS (
    SELECT 1 FROM ledger.job AS ended WHERE ended.platform_job_id = late.platform_job_id AND ended.{one_of(ENDED_STATES)})
"""  # noqa: S608


def received(context: Context, connection: sa.Connection, job: Job) -> Sequence[Any]:
    """The events of this job in the inbox, for `known`."""
    return received_of(context, connection, [job])[job.job_id]


def received_of(context: Context, connection: sa.Connection, jobs: Sequence[Job]) -> dict[int, Sequence[Any]]:
    """The same for many jobs in one statement, by `job_id`."""
    numbers = {
        job.job_id: job.platform_job_id
        for job in jobs
        if job.platform_job_id is not None and context.kinds[job.kind].has_event
    }
    found = events.of_jobs(connection, numbers.values())
    return {job.job_id: found.get(numbers.get(job.job_id, ""), ()) for job in jobs}


def believable(context: Context, job: Job, rows: Sequence[Any]) -> list[JobEvent]:
    """The events of this job that may count, the best first; an error in one stops no other."""
    believed = []
    for raw in rows:
        try:
            event = events.read_event(raw)
            _check(context, job, event)
        except Exception as error:
            if stops_every_job(error):
                raise
            quarantine(context, raw.event_id, reason_of(error))
        else:
            believed.append(event)
    return events.best_first(believed)


def _check(context: Context, job: Job, event: JobEvent) -> None:
    """Raises DataError if the event cannot be about this job, and LinkNotAllowedError if its link leads to no allowed address."""
    if job.after_event is not None and event.event_id <= job.after_event:
        raise DataError("it came before the request that its job belongs to was sent")
    if event.vendor not in {None, job.of_vendor}:
        raise DataError(f"it names vendor {event.vendor}, and its job is one of vendor {job.of_vendor}")
    if event.download_url is not None:
        context.open_platform().check_link(event.download_url)


def quarantine(context: Context, event_id: int, reason: str) -> None:
    """Quarantines an event; `shelfsync inbox list` shows it with its reason."""
    log.error("event %d is quarantined: %s", event_id, reason)
    metrics.count("inbox.events.quarantined")
    with context.engine.begin() as connection:
        events.quarantine(connection, event_id, reason)


def record_late_events(context: Context) -> None:
    """Records events that came after the end of their job as processed. They change nothing."""
    with context.engine.begin() as connection:
        connection.execute(sa.text(_LATE))
