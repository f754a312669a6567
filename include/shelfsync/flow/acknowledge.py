"""acknowledge: the baseline moves by what the log said, and by nothing else (I2); what it did not say becomes unknown (I7)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shelfsync import logs
from shelfsync.errors import DataError, TryAgainError
from shelfsync.flow import failure, hear, patience, rejected
from shelfsync.flow.deliver import deliver_next
from shelfsync.flow.each_vendor import Skip, StepReport, each_vendor, why_not
from shelfsync.flow.holding import holding
from shelfsync.flow.known import write_known
from shelfsync.flow.outcomes import ended_without_log, refused_values
from shelfsync.flow.turned_away import TurnedAway
from shelfsync.ledger import batches, jobs, rejections, vendor_runs, vendors
from shelfsync.warehouse import load, record

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.batches import PlannedBatch
    from shelfsync.ledger.jobs import Job
    from shelfsync.ledger.leases import Lease
    from shelfsync.ledger.vendor_runs import VendorRun

log = logging.getLogger(__name__)

_SWAPS = 3


def acknowledge(
    parts: Parts, run_id: int, names: Iterable[str], *, go_on: bool = True, comes_back: bool = True
) -> StepReport:
    """Moves the baseline of each vendor by its confirmed job, then sends the vendor's next batch where there is one (`go_on`)."""

    def work(row: VendorRun) -> None:
        with holding(parts, row.vendor) as lease:
            acknowledge_job(parts, row, lease, go_on=go_on)

    return each_vendor(parts, run_id, names, "acknowledge", work, comes_back=comes_back)


def acknowledge_job(parts: Parts, row: VendorRun, lease: Lease, *, go_on: bool = True) -> None:
    """The confirmed job of one vendor and run."""
    with parts.engine.connect() as connection:
        job = jobs.open_job_of(connection, row.vendor)
        if job is None or job.run_id != row.run_id:
            raise Skip("no job of this run waits to be acknowledged")
        if job.state != "confirmed":
            raise Skip(f"job {job.job_id} is still {job.state}")
        batch = batches.read(connection, job.batch_id)
    with logs.about(job=job.job_id):
        _acknowledge(parts, row, job, batch, lease, go_on=go_on)


def _acknowledge(parts: Parts, row: VendorRun, job: Job, batch: PlannedBatch, lease: Lease, *, go_on: bool) -> None:
    for _ in range(_SWAPS):
        if _move(parts, job, batch, lease):
            break
    else:
        raise TryAgainError(f"acknowledge: the baseline of vendor {row.vendor} moved {_SWAPS} times meanwhile")
    unaccounted, left = _left(parts, job)
    ending = f"job {job.job_id}: {_ending(parts, job, unaccounted)}"
    if unaccounted == job.sent:
        patience.tell_when_lost(parts, row.vendor, ending)
    if left and go_on and why_not(row, "deliver") is None:
        # a run that failed or was given up meanwhile only ends its job
        try:
            deliver_next(parts, row, lease, TurnedAway())
        except Skip:
            if not unaccounted:
                raise
    if unaccounted:
        raise DataError(
            f"{ending}; they stay unconfirmed and are sent again (see warehouse.sku_outcome, state unaccounted)"
        )


def _ending(parts: Parts, job: Job, unaccounted: int) -> str:
    """How the platform ended a job of which SKUs are without a result: its own word comes first, a log that is missing is no log that is silent."""
    status = (hear.known(parts, job).status or "").upper()
    if unaccounted == job.sent and job.log_path is None and job.feedback is None:
        return f"{ended_without_log(status)}: none of its {job.sent} SKUs is confirmed"
    if job.log_path is None and job.feedback is None:
        return f"no log came, and the listing does not show {unaccounted} of {job.sent} SKUs as they were sent"
    silence = f"the platform's log says nothing of {unaccounted} of {job.sent} SKUs that were sent"
    return f"the platform reported the job as FAILED, and {silence}" if status == "FAILED" else silence


def _move(parts: Parts, job: Job, batch: PlannedBatch, lease: Lease) -> bool:
    import pyarrow as pa

    from shelfsync.catalog.acknowledge import acknowledge as pure
    from shelfsync.catalog.acknowledge import in_doubt
    from shelfsync.columns import BASELINE

    with parts.engine.connect() as connection:
        base = vendors.current_baseline(connection, job.vendor)
    items = parts.lake.read_table(batch.items_path)
    outcomes = parts.lake.read_table(job.outcomes_path or "")
    held = BASELINE.empty_table() if base is None else parts.lake.read_table(base.path)
    moved = in_doubt(pure(held, items, outcomes), items, outcomes)
    path = parts.lake.write_table("baseline", job.vendor, moved)
    known_path = write_known(parts, job.vendor, moved, base, items)
    accepted, refused, silent = _by_state(outcomes)
    rows = _rows_of(moved, pa.concat_arrays([accepted, silent]))
    wanted = refused_values(parts, batch, outcomes)
    heard = len(accepted) + len(refused) > 0
    failed = None if heard else failure.failure_of(parts, job, batch, items)
    ended = ("acknowledged", None) if heard else ("unconfirmed", _without_result(outcomes))
    with parts.engine.begin() as connection:
        lease.hold(connection)
        stands = vendors.lock(connection, job.vendor)
        if jobs.read(connection, job.job_id).state != "confirmed":
            return True
        swapped = stands.baseline_version == (0 if base is None else base.version) and vendors.move_baseline(
            connection,
            job.vendor,
            expected=stands.baseline_version,
            path=path,
            known_path=known_path,
            rows=moved.num_rows,
            generation=job.generation,
            job_id=job.job_id,
        )
        if not swapped:
            return False
        load.move_baseline(connection, job.job_id, job.vendor, rows)
        rejections.release(connection, job.vendor, accepted.to_pylist())
        rejected.remember(parts, connection, job.vendor, job.job_id, wanted)
        jobs.end(connection, job.job_id, *ended)
        batches.set_state(connection, batch.batch_id, "done")
        if heard:
            vendors.heard_of_skus(connection, job.vendor)
        if failed is not None:
            failure.note(parts, connection, job, batch, failed)
        if batches.next_planned(connection, job.vendor, run_id=job.run_id) is None:
            vendor_runs.acknowledge(connection, job.run_id, job.vendor, job.generation)
        record.record_job(connection, job.job_id)
    log.info(
        "acknowledge: vendor %s, job %d: %d SKUs moved, %d refused", job.vendor, job.job_id, len(accepted), len(refused)
    )
    return True


def _without_result(outcomes: pa.Table) -> str:
    """Why nothing became known of any SKU: the same of all where the job left no log, else that the log is silent."""
    reasons = outcomes["reason"].unique().to_pylist()
    return reasons[0] if len(reasons) == 1 and reasons[0] else "the platform reported no result for any SKU"


def _left(parts: Parts, job: Job) -> tuple[int, bool]:
    """(unaccounted SKUs of the job, whether batches of its run are left)."""
    with parts.engine.connect() as connection:
        left = batches.next_planned(connection, job.vendor, run_id=job.run_id) is not None
        return jobs.unaccounted_of(connection, job.job_id), left


def _by_state(outcomes: pa.Table) -> tuple[pa.Array, pa.Array, pa.Array]:
    """SKUs accepted, refused, unaccounted."""
    import pyarrow.compute as pc

    def skus(word: str) -> pa.Array:
        return outcomes.filter(pc.equal(outcomes["state"], word))["sku"].combine_chunks()

    return skus("accepted"), skus("refused"), skus("unaccounted")


def _rows_of(table: pa.Table, skus: pa.Array) -> pa.Table:
    import pyarrow.compute as pc

    return table.filter(pc.is_in(table["sku"], value_set=skus))
