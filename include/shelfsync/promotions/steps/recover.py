"""recover: finishes what tasks and processes left open, for every run of the promotions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync.platform.jobs.job_event import record_late_events
from shelfsync.platform.jobs.table import Kind
from shelfsync.platform.jobs.wait import poll_due
from shelfsync.promotions.ledger import jobs as promotion_jobs
from shelfsync.promotions.steps.confirm import confirm
from shelfsync.promotions.steps.deliver import deliver

if TYPE_CHECKING:
    from shelfsync.context import Context
    from shelfsync.promotions.steps.confirm import Confirmed


def recover(context: Context) -> dict[str, Any]:
    """Polls the jobs that are due, confirms those that have ended, sends planned and lost requests, and confirms again; for every run.

    It confirms first, so that ended jobs are confirmed also when nothing can be sent. Ends that waited for them are sent at once.

    Returns `{"delivered": n, "confirmed": n, "open": n, "failed": {campaign: why}, "paused": {campaign: stop}}`.
    """
    before = _poll_and_confirm(context)
    sent = deliver(context)
    after = _poll_and_confirm(context)
    with context.engine.connect() as connection:
        left = len(promotion_jobs.open_jobs(connection))
    record_late_events(context)
    return {
        "delivered": sent.done,
        "confirmed": before.done + after.done,
        "open": left,
        "failed": {**before.failed, **sent.failed, **after.failed},
        "paused": sent.paused,
    }


def _poll_and_confirm(context: Context) -> Confirmed:
    poll_due(context, Kind.PROMOTION)
    return confirm(context)
