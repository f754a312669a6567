"""export: requests each vendor's export from the platform (interface.md 4.4). It changes nothing, so it may be requested again.

`each_export` isolates the vendors for all steps of an export: one that fails stops no other (I10).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from partner_api.errors import PartnerError
from shelfsync.catalog.ledger import exports as export_jobs
from shelfsync.catalog.ledger import tables
from shelfsync.catalog.steps.each_vendor import Skip, StepReport
from shelfsync.catalog.steps.extract import shards
from shelfsync.catalog.steps.forbidden import ForbiddenTriage
from shelfsync.errors import NothingSyncedError, ShelfsyncError, TryAgainError
from shelfsync.inbox import events
from shelfsync.platform.jobs.job_errors import reason_of, stops_every_job
from shelfsync.platform.jobs.submit import Submission, submit
from shelfsync.platform.jobs.table import Kind, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from partner_api.jobs import Job as PlatformJob
    from shelfsync.catalog.ledger.exports import ExportJob
    from shelfsync.context import Context


log = logging.getLogger(__name__)


def plan_exports(context: Context, run_key: str, vendors: tuple[str, ...]) -> list[dict[str, Any]]:
    """The shards of an export: the requested vendors, else those of the settings, else every vendor that was in an extract."""
    with context.engine.begin() as connection:
        names = vendors or context.settings.sync.vendors or seen(connection)
        export_jobs.plan(connection, run_key, dict.fromkeys(names), deadline_s=context.settings.export.deadline_s)
        planned = [one.vendor for one in export_jobs.of_run(connection, run_key)]
    if not planned:
        raise NothingSyncedError("export: no vendor is known yet. Run a sync first, or name the vendors.")
    sync = context.settings.sync
    return [{**shard, "run": run_key} for shard in shards(planned, 0, sync.vendors_per_shard, sync.shards_max)]


def export(context: Context, run_key: str, names: Iterable[str]) -> StepReport:
    """Sends one request a vendor. Its row is committed before the request."""
    triage = ForbiddenTriage()

    def work(one: ExportJob) -> None:
        if one.state not in {State.PLANNED, State.SUBMITTING}:
            raise Skip("requested before")
        submission = ExportSubmission(context, None, Kind.EXPORT, one.job_id, one.name, one.vendor, one)
        submit(context, submission, triage)

    return each_export(context, run_key, names, "export", work)


@dataclass(frozen=True)
class ExportSubmission(Submission):
    """The request of an export. It changes nothing on the platform, so an export that was not answered is requested again."""

    job: ExportJob

    def send(self) -> PlatformJob:
        deadline_s = self.context.settings.export.deadline_s
        with self.context.engine.begin() as connection:
            newest = events.newest(connection)
            if not export_jobs.attempt(connection, self.job, deadline_s=deadline_s, after_event=newest):
                raise Skip("requested before")
        return self.context.open_platform().export(self.job.vendor, priority="export")


def seen(connection: sa.Connection) -> tuple[str, ...]:
    """Vendors that were in an extract and are not forgotten; a vendor that a person only typed is not among them."""
    in_run = sa.exists().where(tables.vendor_run.c.vendor == tables.vendor.c.vendor)
    statement = (
        sa.select(tables.vendor.c.vendor)
        .where(in_run, tables.vendor.c.forgotten.is_(None))
        .order_by(tables.vendor.c.vendor)
    )
    return tuple(connection.execute(statement).scalars())


class LaterError(TryAgainError):
    """This vendor cannot be worked on now; the others can."""


def each_export(
    context: Context, run_key: str, vendors: Iterable[str], step: str, work: Callable[[ExportJob], None]
) -> StepReport:
    """Calls `work` for each export of these vendors. Raises an error that concerns every vendor, and writes any other to its row."""
    report = StepReport(step)
    later: LaterError | None = None
    with context.engine.connect() as connection:
        found = export_jobs.of_run(connection, run_key, vendors)
    for one in found:
        try:
            work(one)
        except Skip as skip:
            report.skipped[one.vendor] = str(skip)
        except LaterError as error:
            later = later or error
        except Exception as error:  # whatever it is, the other vendors go on (I10)
            if stops_every_job(error):
                raise
            report.failed[one.vendor] = _note(context, one, step, error)
        else:
            report.done.append(one.vendor)
    for name, why in report.failed.items():
        log.error("%s: vendor %s failed: %s", step, name, why)
    if later is not None:
        raise later
    return report


def _note(context: Context, one: ExportJob, step: str, error: Exception) -> str:
    line = reason_of(error)
    if not isinstance(error, ShelfsyncError | PartnerError):
        log.error("%s: vendor %s", step, one.vendor, exc_info=error)
    with context.engine.begin() as connection:
        export_jobs.fail(connection, one, step, line, over=one.overdue)
    return line
