"""What differs between the platform's jobs: how those of batches, exports and promotions are found, polled and ended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from partner_api.jobs import FINISHED
from shelfsync.catalog.ledger import exports as export_jobs
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.platform.jobs.ended_status import ENDED
from shelfsync.platform.jobs.job import Answer, JobKind
from shelfsync.platform.jobs.poll_times import PollTimes
from shelfsync.platform.jobs.table import Kind
from shelfsync.promotions.ledger import jobs as promotion_jobs

if TYPE_CHECKING:
    from partner_api import PartnerClient
    from shelfsync.settings import Settings


def _status(client: PartnerClient, job: Any, priority: str) -> Answer:
    answer = client.job_status(job.platform_job_id, priority=priority)
    return Answer(answer.status, answer.download_url, [item.raw for item in answer.feedback])


def _pace(settings: Settings, deadline_s: float) -> PollTimes:
    return PollTimes(settings.sync.poll_first_s, settings.sync.poll_max_s, deadline_s)


CATALOG = JobKind(
    kind=Kind.CATALOG,
    ended=ENDED,
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
    ended=ENDED,
    has_event=True,
    pace=lambda settings: _pace(settings, settings.export.deadline_s),
    has_status_call=lambda settings: bool(settings.platform.job_status_path),
    not_found_is_absent=False,
    status=lambda client, job: _status(client, job, "export"),
    read=export_jobs.read,
    of_run=lambda connection, run, vendors: [*export_jobs.of_run(connection, run, vendors)],
)


def _promotion_status(client: PartnerClient, job: Any) -> Answer:
    """The status has the lists of rejected pairs; they count once the job has ended."""
    answer = client.promotion_status(job.platform_job_id, priority="promotion")
    if (answer.status or "").upper() not in FINISHED:
        return Answer(answer.status)
    lists = {
        "invalid_vendors": answer.invalid_vendors,
        "missing_skus": answer.missing_skus,
        "invalid_discounted_skus": answer.invalid_discounted_skus,
    }
    return Answer(answer.status, result=json.dumps(lists).encode())


PROMOTION = JobKind(
    kind=Kind.PROMOTION,
    ended=FINISHED,
    has_event=False,
    pace=lambda settings: PollTimes(
        settings.promotions.poll_first_s, settings.promotions.poll_max_s, settings.promotions.job_deadline_s
    ),
    has_status_call=lambda _settings: True,
    not_found_is_absent=False,
    status=_promotion_status,
    read=promotion_jobs.read,
    of_run=lambda connection, run, _vendors: [*promotion_jobs.open_jobs(connection, run_id=run)],
)
