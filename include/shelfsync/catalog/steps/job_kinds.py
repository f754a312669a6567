"""How the platform's jobs of the catalog are found, polled and ended: those of batches, and exports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync.catalog.ledger import exports as export_jobs
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.platform.jobs.job import Answer, JobKind, Pace
from shelfsync.platform.jobs.table import Kind

if TYPE_CHECKING:
    from partner_api import PartnerClient
    from shelfsync.settings import Settings


def _status(client: PartnerClient, job: Any, priority: str) -> Answer:
    answer = client.job_status(job.platform_job_id, priority=priority)
    return Answer(answer.status, answer.download_url, [item.raw for item in answer.feedback])


def _pace(settings: Settings, deadline_s: float) -> Pace:
    return Pace(settings.sync.poll_first_s, settings.sync.poll_max_s, deadline_s)


CATALOG = JobKind(
    kind=Kind.CATALOG,
    ended=frozenset({"COMPLETED", "FAILED"}),
    has_event=True,
    pace=lambda settings: _pace(settings, settings.sync.job_deadline_s),
    has_status_call=lambda settings: bool(settings.platform.job_status_path),
    not_found_is_absent=True,
    status=lambda client, job: _status(client, job, job.priority),
    read=catalog_jobs.read,
    of_run=lambda connection, run, vendors: [*catalog_jobs.open_jobs(connection, run_id=run, vendors=vendors)],
)
EXPORT = JobKind(
    kind=Kind.EXPORT,
    ended=frozenset({"COMPLETED", "FAILED"}),
    has_event=True,
    pace=lambda settings: _pace(settings, settings.export.deadline_s),
    has_status_call=lambda settings: bool(settings.platform.job_status_path),
    not_found_is_absent=False,
    status=lambda client, job: _status(client, job, "export"),
    read=export_jobs.read,
    of_run=lambda connection, run, vendors: [*export_jobs.of_run(connection, run, vendors)],
)
