"""settle: what events, tasks and processes lost. Goes through every open job and every batch that was planned and never left."""

from __future__ import annotations

import logging
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from shelfsync.flow import holds, standing
from shelfsync.flow.acknowledge import acknowledge
from shelfsync.flow.confirm import confirm
from shelfsync.flow.deliver import deliver
from shelfsync.ledger import batches, exports, jobs
from shelfsync.warehouse import record

if TYPE_CHECKING:
    from shelfsync.flow.house import Parts

log = logging.getLogger(__name__)


def settle(parts: Parts) -> dict[str, Any]:
    """Resends requests whose answer was lost, confirms, acknowledges, sends what is planned; for all runs, vendor by vendor.

    Returns `{"runs": n, "confirmed": n, "acknowledged": n, "delivered": n, "failed": {vendor: why}, "open": n}`.
    """
    holds.release_waiting(parts)
    with parts.engine.begin() as connection:
        lost_exports = exports.end_lost(connection)
    if lost_exports:
        log.warning("settle: the exports of %s were lost: no process has ended them", ", ".join(lost_exports))
    with parts.engine.connect() as connection:
        open_jobs = jobs.open_jobs(connection)
        planned = batches.vendors_with_planned(connection)
    work: dict[int, set[str]] = defaultdict(set)
    lost: dict[int, set[str]] = defaultdict(set)
    for job in open_jobs:
        work[job.run_id].add(job.vendor)
        if job.state == "submitting":
            lost[job.run_id].add(job.vendor)
    for run_id, vendor in planned:
        lost[run_id].add(vendor)
    done = {"confirmed": 0, "acknowledged": 0, "delivered": 0}
    failed: dict[str, str] = {}
    for run_id in sorted(work | lost):
        for word, step, names in (
            ("confirmed", confirm, work[run_id]),
            ("acknowledged", acknowledge, work[run_id]),
            ("delivered", deliver, lost[run_id]),
        ):
            told = step(parts, run_id, sorted(names), comes_back=False)  # the schedule comes back
            done[word] += len(told.done)
            failed |= told.failed
        with parts.engine.begin() as connection:
            record.record_run(connection, run_id)
    with parts.engine.connect() as connection:
        left = len(jobs.open_jobs(connection))
    standing.tell(parts)
    return {"runs": len(work | lost), **done, "failed": failed, "open": left}
