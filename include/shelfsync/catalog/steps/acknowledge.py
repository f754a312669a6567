"""acknowledge: moves the baseline by the outcomes in the log, and by nothing else (I2). A SKU without an outcome becomes unknown (I7)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from shelfsync.catalog.baseline import gone_everywhere, with_accepted, with_unconfirmed, without
from shelfsync.catalog.ledger import batches, vendor_runs
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.state import BatchState
from shelfsync.catalog.steps import failed_job, rejected_skus, vendor_back_off
from shelfsync.catalog.steps.baseline_version import Base, Move, move_baseline
from shelfsync.catalog.steps.each_open_job import each_open_job
from shelfsync.catalog.steps.outcomes import ended_without_log, rejected_values
from shelfsync.catalog.warehouse import record
from shelfsync.errors import DataError
from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs.poll import known
from shelfsync.platform.jobs.table import State
from shelfsync.schemas import SNAPSHOT
from shelfsync.vendors.step_report import Skip, StepReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.ledger.batches import PlannedBatch
    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.context import Context
    from shelfsync.vendors.lease import Lease

log = logging.getLogger(__name__)

_NO_LOG = "no log came, and the platform reported no result"


def acknowledge(context: Context, run_id: int, names: Iterable[str], *, comes_back: bool = True) -> StepReport:
    """Moves the baseline of each vendor by its confirmed jobs of this run."""
    otherwise = "no job of this run waits to be acknowledged"
    return each_open_job(
        context, run_id, names, "acknowledge", _acknowledge, otherwise=otherwise, comes_back=comes_back
    )


def _acknowledge(context: Context, job: CatalogJob, lease: Lease) -> None:
    if job.state != State.CONFIRMED:
        raise Skip(f"job {job.job_id} is still {job.state}")
    batch = batches.read(lease.session, job.batch_id)
    # it calls `_next` with the version in force, again if that moved; then, in one transaction, `still`, the swap and the move's `also`
    move_baseline(context, lease, job.vendor, lambda base: _next(context, job, batch, base), still=_waits(job))
    if unaccounted := job.unaccounted or 0:
        ending = f"job {job.job_id}: {_ending(context, job, unaccounted)}"
        if unaccounted == job.sent:
            vendor_back_off.raise_if_waiting(context, job.vendor, ending)
        raise DataError(
            f"{ending}; they stay unconfirmed and are sent again (see warehouse.sku_outcome, state unaccounted)"
        )


def _ending(context: Context, job: CatalogJob, unaccounted: int) -> str:
    """How the platform ended a job with SKUs without an outcome. A missing log differs from a log without some SKUs."""
    news = known(context, job)
    status, nothing_came = (news.status or "").upper(), job.result_path is None and news.feedback is None
    if unaccounted == job.sent and nothing_came:
        outcomes = context.lake.read_table(job.outcomes_path or "")
        return f"{_common_reason(outcomes) or ended_without_log(status)}: none of its {job.sent} SKUs is confirmed"
    if nothing_came:
        return f"no log came, and the listing does not show {unaccounted} of {job.sent} SKUs as they were sent"
    log_or_status = "the platform's log has no line" if job.result_path else _NO_LOG
    missing = f"{log_or_status} for {unaccounted} of {job.sent} SKUs that were sent"
    return f"the platform reported the job as FAILED, and {missing}" if status == "FAILED" else missing


def _waits(job: CatalogJob) -> Callable[[Connection], bool]:
    return lambda connection: catalog_jobs.read(connection, job.job_id).state == State.CONFIRMED


def _next(context: Context, job: CatalogJob, batch: PlannedBatch, base: Base) -> Move:
    """The baseline moved by the job's outcomes, and what is committed with it."""
    items = context.lake.read_table(batch.items_path)
    outcomes = context.lake.read_table(job.outcomes_path or "")
    wanted = rejected_values(context, batch, outcomes)
    gone = gone_everywhere(wanted, context.settings.rejection.reason_keywords, lambda: _in_erp(context, batch))
    moved = without(with_unconfirmed(with_accepted(base.rows, items, outcomes), items, outcomes), gone)
    accepted, rejected = _by_state(outcomes)
    has_outcome = len(accepted) + len(rejected) > 0
    failed = None if has_outcome else failed_job.failure_of(context, job, batch, items)
    ended = (State.ACKNOWLEDGED, None) if has_outcome else (State.UNCONFIRMED, _without_result(outcomes))

    def also(connection: Connection) -> None:
        still_wanted = [row for row in wanted if row["sku"] not in gone]
        released = accepted.to_pylist()
        rejected_skus.remember(context, connection, job.vendor, job.job_id, still_wanted, released=released)
        job_row.end(connection, job.job_id, *ended, batches.moved(batch.batch_id, BatchState.DONE))
        if failed is not None:
            failed_job.write_failure(context, connection, job, batch, failed)
        vendor_runs.acknowledge(connection, job.run_id, job.vendor, job.generation, unless=batches.others_left(batch))
        record.JOB.copy(connection, [job.job_id])

    def report() -> None:
        log.info(
            "acknowledge: vendor %s, job %d: %d SKUs moved, %d rejected",
            job.vendor,
            job.job_id,
            len(accepted),
            len(rejected),
        )

    return Move(moved, job.generation, also, report, job_id=job.job_id, sent=items, gone=gone, has_outcome=has_outcome)


def _in_erp(context: Context, batch: PlannedBatch) -> list[str]:
    """The SKUs of the snapshot. A plan that takes a store off sale has none: the store has left the ERP."""
    skus: list[str] = context.lake.read_or_empty(batch.snapshot_path or None, SNAPSHOT, ["sku"])["sku"].to_pylist()
    return skus


def _without_result(outcomes: pa.Table) -> str:
    """Why no SKU has an outcome: the common reason if the job left no log, else that the log has none of them."""
    return _common_reason(outcomes) or "the platform reported no result for any SKU"


def _common_reason(outcomes: pa.Table) -> str | None:
    """The reason that every SKU has; None if they differ."""
    reasons: list[str | None] = outcomes["reason"].unique().to_pylist()
    return reasons[0] if len(reasons) == 1 else None


def _by_state(outcomes: pa.Table) -> tuple[pa.Array, pa.Array]:
    """SKUs accepted, and SKUs rejected."""

    def skus(word: str) -> pa.Array:
        return outcomes.filter(pc.equal(outcomes["state"], word))["sku"].combine_chunks()

    return skus("accepted"), skus("rejected")
