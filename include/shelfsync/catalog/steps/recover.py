"""recover: finishes what lost events, tasks and processes left open. Each run begins with it, and a schedule does it for all vendors."""

from __future__ import annotations

import logging
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.ledger import batches
from shelfsync.catalog.ledger import exports as export_jobs
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.steps import holds, status
from shelfsync.catalog.steps.acknowledge import acknowledge
from shelfsync.catalog.steps.confirm import confirm
from shelfsync.catalog.steps.deliver import deliver
from shelfsync.catalog.warehouse import record
from shelfsync.platform.jobs.job_event import record_late_events
from shelfsync.platform.jobs.table import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shelfsync.context import Context

log = logging.getLogger(__name__)


def recover(context: Context) -> dict[str, Any]:
    """Finishes every open job and sends every planned batch; for all runs, vendor by vendor.

    Returns `{"runs": n, "confirmed": n, "acknowledged": n, "delivered": n, "failed": {vendor: reason}, "open": n}`.
    """
    unreleased = holds.release_waiting(context)
    with context.engine.begin() as connection:
        lost_exports = export_jobs.end_lost(connection)
    if lost_exports:
        log.warning("recover: the exports of %s were lost: no process has ended them", ", ".join(lost_exports))
    with context.engine.connect() as connection:
        planned = batches.vendors_with_planned(connection)
    result = recover_open(context)
    planned_by_run: dict[int, list[str]] = defaultdict(list)
    for run_id, vendor in planned:
        planned_by_run[run_id].append(vendor)
    for run_id, names in sorted(planned_by_run.items()):
        delivered = deliver(context, run_id, sorted(names), comes_back=False)  # the schedule tries again
        result["delivered"] += len(delivered.done)
        result["failed"] |= delivered.failed
    result["failed"] = unreleased | result["failed"]
    run_ids = sorted(set(result.pop("run_ids")) | set(planned_by_run))
    with context.engine.begin() as connection:
        for run_id in run_ids:
            record.RUN.copy(connection, [run_id])
    with context.engine.connect() as connection:
        left = len(catalog_jobs.open_jobs(connection))
    record_late_events(context)
    status.report_gauges(context)
    return {"runs": len(run_ids), **result, "open": left}


def recover_open(context: Context, vendors: Iterable[str] | None = None) -> dict[str, Any]:
    """Sends lost requests of these vendors again, and confirms and acknowledges what the platform has ended; None: of all vendors.

    Batches that were planned and not sent stay: a new run supersedes them with newer values. Returns `{"run_ids": [...],
    "confirmed": n, "acknowledged": n, "delivered": n, "failed": {vendor: reason}}`.
    """
    with context.engine.connect() as connection:
        jobs = catalog_jobs.open_jobs(connection, vendors=None if vendors is None else list(vendors))
    open_vendors: dict[int, set[str]] = defaultdict(set)
    lost: dict[int, set[str]] = defaultdict(set)
    for job in jobs:
        open_vendors[job.run_id].add(job.vendor)
        if job.state == State.SUBMITTING:
            lost[job.run_id].add(job.vendor)
    result: dict[str, Any] = {"run_ids": sorted(open_vendors), "delivered": 0, "confirmed": 0, "acknowledged": 0}
    failed: dict[str, str] = {}
    for run_id in result["run_ids"]:
        for count, step, names in (
            ("delivered", partial(deliver, lost_only=True), lost[run_id]),
            ("confirmed", confirm, open_vendors[run_id]),
            ("acknowledged", acknowledge, open_vendors[run_id]),
        ):
            if names:
                report = step(context, run_id, sorted(names), comes_back=False)
                result[count] += len(report.done)
                failed |= report.failed
    return {**result, "failed": failed}
