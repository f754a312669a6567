"""The kind of job of promotions: how its jobs are selected, polled and ended."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from partner_api.jobs import FINISHED
from shelfsync.platform.jobs.job import Answer, JobKind, Pace
from shelfsync.platform.jobs.table import Kind
from shelfsync.promotions.ledger import jobs as promotion_jobs

if TYPE_CHECKING:
    from partner_api import PartnerClient


def _status(client: PartnerClient, job: Any) -> Answer:
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
    pace=lambda settings: Pace(
        settings.promotions.poll_first_s, settings.promotions.poll_max_s, settings.promotions.job_deadline_s
    ),
    has_status_call=lambda _settings: True,
    not_found_is_absent=False,
    status=_status,
    read=promotion_jobs.read,
    of_run=lambda connection, run, _vendors: [*promotion_jobs.open_jobs(connection, run_id=run)],
)
