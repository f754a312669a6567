"""deliver: sends every batch of a vendor's plan as one request. The job's row is committed before the request.

The batches of one plan share no SKU, so all of their jobs may be with the platform at once (I5).
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partner_api import StreamedBody
from shelfsync import logs, metrics
from shelfsync.catalog.bisection import FAILURES_PER_STEP, next_batch
from shelfsync.catalog.bodies import stream
from shelfsync.catalog.ledger import batches, vendor_runs, vendors
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.state import BatchState, VendorState
from shelfsync.catalog.steps import rejected_batch, vendor_back_off
from shelfsync.catalog.steps.each_vendor import each_vendor, nothing
from shelfsync.catalog.steps.outcomes import all_alike, leave_unconfirmed, write_outcomes
from shelfsync.catalog.steps.status import outlook
from shelfsync.catalog.warehouse import record
from shelfsync.catalog.whose_turn import in_order
from shelfsync.errors import DataError, StoppedError
from shelfsync.inbox import events
from shelfsync.platform import kill_switch
from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs.store_answer import store_answer, unpollable
from shelfsync.platform.jobs.submit import Accepted, GiveBack, GiveUp, Rejected, Request, Unconfirmed, submit
from shelfsync.platform.jobs.table import Kind, State
from shelfsync.rows.alignment import alike
from shelfsync.vendors.forbidden_triage import ForbiddenTriage
from shelfsync.vendors.held_body import HeldBody
from shelfsync.vendors.step_report import Skip, StepReport
from shelfsync.vendors.under_lease import holding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlalchemy.engine import Connection

    from partner_api.errors import PartnerError
    from partner_api.jobs import Job as PlatformJob
    from shelfsync.catalog.ledger.batches import PlannedBatch
    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.catalog.ledger.vendor_runs import VendorRun
    from shelfsync.context import Context
    from shelfsync.vendors.lease import Lease

log = logging.getLogger(__name__)


def deliver(
    context: Context,
    run_id: int,
    names: Iterable[str],
    *,
    comes_back: bool = True,
    lost_only: bool = False,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> StepReport:
    """Sends what is planned of each vendor, in the order of `whose_turn`: the most urgent batches of all vendors first.

    A request that a dead process may have sent is sent again, identical, unless a newer plan exists. `lost_only`: sends only those.
    `progress(done, all)` counts turns. `each_vendor` calls `work` for each vendor in turn, again if it was taken, and writes a failure to the
    vendor's row.
    """
    triage = ForbiddenTriage(vendors.lately_acknowledged)
    wanted = dict.fromkeys(sorted(names))
    with context.engine.connect() as connection:
        turns = in_order(turn for turn in batches.waiting(connection, run_id) if turn.vendor in wanted)
    left: dict[str, list[str | None]] = {name: [] for name in wanted}
    for turn in turns:
        left[turn.vendor].append(turn.priority)

    def work(row: VendorRun, _nothing: None) -> None:
        if row.state in {
            VendorState.UNCHANGED,
            VendorState.PLANNED,
        }:  # busy may be by a job of this very run, which died while it sent
            raise Skip("nothing to send")
        progress(len(turns) - sum(map(len, left.values())), len(turns))
        with holding(context, row.vendor) as lease:
            priority = left[row.vendor].pop(0) if left[row.vendor] else None
            deliver_vendor(context, row, lease, triage, priority=priority, lost_only=lost_only)

    _forecast(context)
    in_turn = [turn.vendor for turn in turns] + [name for name in wanted if not left[name]]
    report = each_vendor(context, run_id, in_turn, "deliver", nothing, work, comes_back=comes_back)
    progress(len(turns), len(turns))
    return report


def _forecast(context: Context) -> None:
    """Logs how long the delivery will take; a warning if it will not end before the next run."""
    ahead = outlook(context)
    if ahead.requests:
        report = log.info if ahead.in_time else log.warning
        report("deliver: all that is planned takes %s", ahead.sentence())


def deliver_vendor(
    context: Context,
    row: VendorRun,
    lease: Lease,
    triage: ForbiddenTriage,
    *,
    priority: str | None = None,
    lost_only: bool = False,
) -> None:
    """Sends the vendor's batches of this run, those of one priority or all; first the one that a dead process left open.

    A request that the platform rejects as a whole is halved until its bad rows are alone.
    """
    rejected = sent = 0
    more = True
    while more and rejected < FAILURES_PER_STEP:
        try:
            job_id, batch, more = _begin(context, row, lease, priority=priority, lost_only=lost_only)
        except Skip as nothing_more:
            if not (sent or rejected):
                raise
            log.debug("deliver: vendor %s, after %d requests: %s", row.vendor, sent + rejected, nothing_more)
            return
        with logs.about(job=job_id):
            if _deliver_batch(context, lease, job_id, batch, triage):
                sent += 1
            else:
                rejected += 1
                more = True
    if more:
        raise DataError(
            f"the platform rejected {FAILURES_PER_STEP} requests as a whole; the rest is sent by catalog_recover. See ledger.job for its reasons"
        )


def _begin(
    context: Context, row: VendorRun, lease: Lease, *, priority: str | None, lost_only: bool
) -> tuple[int, PlannedBatch, bool]:
    """The job to send, and whether there may be more: the one that a dead process left while sending, or a new one."""
    with context.engine.begin() as connection:
        lease.hold(connection)
        state = vendors.lock(connection, row.vendor, whole=True)
        stop = kill_switch.stopped(connection, row.vendor, chain=context.settings.platform.chain)
        if stop is not None:
            log.warning("deliver: vendor %s: nothing is sent: %s", row.vendor, stop)
            raise Skip(str(stop))
        known = catalog_jobs.open_jobs(connection, vendors=[row.vendor])
        of_others = next((job for job in known if job.run_id != row.run_id), None)
        lost = next((job for job in known if job.state == State.SUBMITTING), None)
        begun: tuple[int, PlannedBatch, bool] | _Outrun | str
        if of_others is not None:
            begun = f"job {of_others.job_id} of run {of_others.run_id} is {of_others.state}"
        elif lost is not None:
            begun = _again(connection, lost, state)
        elif lost_only:
            begun = "no request of this run was lost"
        else:
            begun = _new(context, connection, row, state, known, priority)
    if isinstance(begun, _Outrun):
        leave_unconfirmed(
            context, lease, begun.job_id, "it is unknown whether it was sent, and a newer generation was planned"
        )
        raise Skip("a newer run goes on")
    if isinstance(begun, str):
        raise Skip(begun)
    return begun


@dataclass(frozen=True)
class _Outrun:
    """A job that may have been sent, and must not be sent again because a newer plan exists."""

    job_id: int


def _again(
    connection: Connection, known: CatalogJob, state: vendors.Vendor
) -> tuple[int, PlannedBatch, bool] | _Outrun:
    """The job whose request may have been lost, if it may be sent again, which is one more attempt."""
    batch = batches.read(connection, known.batch_id)
    if state.fence > batch.generation:
        return _Outrun(known.job_id)
    job_row.attempt(connection, known.job_id)
    return known.job_id, batch, True


def _new(
    context: Context,
    connection: Connection,
    row: VendorRun,
    state: vendors.Vendor,
    known: list[CatalogJob],
    priority: str | None,
) -> tuple[int, PlannedBatch, bool] | str:
    """A job for the next planned batch; otherwise why there is none. `known`: the open jobs of the vendor."""
    waiting = batches.planned(connection, row.vendor, row.run_id)
    if priority is not None and not state.consecutive_failures:  # a bisection ignores priorities
        waiting = [one for one in waiting if one.priority == priority]
    if not waiting:
        return "nothing is left to send"
    if known:
        waiting = [one for one in waiting if one.plan == known[0].plan]
        if not waiting:
            return f"job {known[0].job_id} is {known[0].state}, and the rest belongs to another plan"
    if searched := known and batches.searched(connection, [job.batch_id for job in known]):
        failed = catalog_jobs.ended_without_result(connection, [one.halved_from or 0 for one in waiting])
        waiting = [one for one in waiting if one.halved_from not in failed - searched]
        if not waiting:
            return f"job {known[0].job_id} is {known[0].state}; shelfsync bisects one failed job at a time"
    planned = next_batch(waiting, state.consecutive_failures)
    why_not = _superseded(connection, state, planned) or vendor_back_off.why_wait(connection, row, state, planned)
    if why_not is not None:
        return why_not
    job_id = catalog_jobs.begin(
        connection,
        batch_id=planned.batch_id,
        vendor=row.vendor,
        plan=planned.plan,
        sent=planned.item_count,
        deadline_s=context.settings.sync.job_deadline_s,
        after_event=events.newest(),
    )
    if job_id is None:
        return "a job of another plan of this vendor is open"
    return job_id, planned, len(waiting) > 1


def _superseded(connection: Connection, state: vendors.Vendor, planned: PlannedBatch) -> str | None:
    """Why a planned batch must not be sent any more: the fence is higher, or its baseline is out of date (I4).

    A version that this plan's own jobs moved to, which has its generation, is not out of date.
    """
    moved_by_others = False
    if state.baseline_version != planned.base_version:
        base = vendors.current_baseline(connection, planned.vendor)
        moved_by_others = base is None or base.generation != planned.generation
    if state.fence <= planned.generation and not moved_by_others:
        return None
    why = (
        f"a newer run has planned generation {state.fence}, this one is {planned.generation}; nothing older is sent"
        if state.fence > planned.generation
        else "the baseline has changed; the next run compares again"
    )
    batches.supersede_generation(connection, planned.vendor, planned.generation)
    vendor_runs.write(connection, planned.run_id, planned.vendor, state=VendorState.SUPERSEDED, error=why)
    return why


def _deliver_batch(context: Context, lease: Lease, job_id: int, batch: PlannedBatch, triage: ForbiddenTriage) -> bool:
    """Sends the batch as the request of its job. False: the platform rejected it as a whole, and what is in it is planned otherwise.

    The first attempt is committed with the beginning of the job, or with that of its repetition. `submit` calls `send` once, and again after
    a lost answer: read it as `_send`, and then the case of what came back.
    """

    def send(again: bool) -> PlatformJob:
        if again:
            with context.engine.begin() as connection:
                lease.hold(connection)
                job_row.attempt(connection, job_id)
        return _send(context, lease, batch)

    name = f"vendor {batch.vendor}, job {job_id}"
    match submit(context, Request(job_id, name, batch.vendor, send), triage):
        case Accepted(answer):
            _accept(context, lease, job_id, batch, answer)
            return True
        case GiveBack(why, error):
            _give_back(context, lease, job_id, batch, why)
            raise _skip_if_paused(batch.vendor, error)
        case Unconfirmed(error):
            raise _skip_if_paused(batch.vendor, error)
        case GiveUp(error, earlier):
            if earlier is not None:
                leave_unconfirmed(context, lease, job_id, earlier)
            _give_up(context, lease, job_id, batch, error, ended=earlier is not None)
            raise error
        case Rejected(error, earlier):
            if earlier is not None:
                leave_unconfirmed(context, lease, job_id, earlier)
            log.warning("deliver: %s of %d SKUs: %s", name, batch.item_count, error)
            rejected_batch.halve_or_reject(context, lease, job_id, batch, error)
            vendor_back_off.raise_if_waiting(context, batch.vendor, str(error))
            return False


def _send(context: Context, lease: Lease, batch: PlannedBatch) -> PlatformJob:
    """Sends the body of the batch."""
    platform = context.settings.platform
    items = context.lake.read_table(batch.items_path)
    body = stream(items, key=platform.item_key, sales_limit_name=platform.sales_limit_name, body_bytes=batch.body_bytes)
    held = StreamedBody(HeldBody(body, batch.body_bytes, context, lease), batch.body_bytes)
    return context.open_platform().update_catalog(batch.vendor, held, priority=batch.priority)


def _accept(context: Context, lease: Lease, job_id: int, batch: PlannedBatch, answer: PlatformJob) -> None:
    """The request is with the platform. If its job cannot be polled and has no result, it ends as unconfirmed."""
    with context.engine.begin() as connection:
        lease.hold(connection)
        why_not = store_answer(context, connection, Kind.CATALOG, job_id, answer)
        metrics.count("deliver.requests")
        metrics.count("deliver.skus", batch.item_count)
        batches.set_state(connection, batch.batch_id, BatchState.SENT)
        record.JOB.copy(connection, [job_id])
    if why_not is None or _done_at_once(context, lease, job_id, batch, answer):
        return
    leave_unconfirmed(context, lease, job_id, why_not)
    raise unpollable(job_id, why_not)


def _done_at_once(context: Context, lease: Lease, job_id: int, batch: PlannedBatch, answer: PlatformJob) -> bool:
    """True for the older response: 200 with the key of the single item under `sku`. It reports that this item is accepted."""
    if answer.job_id is not None or batch.item_count != 1:
        return False
    items = context.lake.read_table(batch.items_path)
    sent = str(items[context.settings.platform.item_key][0].as_py())
    reported = str(answer.raw.get("sku"))
    if reported != sent and not (context.settings.platform.item_key == "barcode" and alike(reported, sent)):
        return False
    with context.engine.connect() as connection:
        job = catalog_jobs.read(connection, job_id)
    write_outcomes(context, lease, job, batch, items, all_alike(items, "accepted", None))
    return True


def _give_back(context: Context, lease: Lease, job_id: int, batch: PlannedBatch, why: str) -> None:
    """The platform did nothing: the job ends, and the batch is planned again."""
    with context.engine.begin() as connection:
        lease.hold(connection)
        job_row.end(connection, job_id, State.SUPERSEDED, why)
        batches.set_state(connection, batch.batch_id, BatchState.PLANNED)


def _skip_if_paused(vendor: str, error: Exception) -> Exception:
    """A pause by a person is no failure. A request that may have left stays open until a person resumes."""
    if not isinstance(error, StoppedError):
        return error
    log.warning("deliver: vendor %s: nothing is sent: %s", vendor, error)
    return Skip(str(error))


def _give_up(
    context: Context, lease: Lease, job_id: int, batch: PlannedBatch, error: PartnerError, *, ended: bool
) -> None:
    """The platform accepts no request of this vendor: shelfsync gives up the plan of this generation. `ended`: the job has ended."""
    with context.engine.begin() as connection:
        lease.hold(connection)
        if not ended:
            job_row.end(connection, job_id, State.REJECTED, str(error))
        batches.set_state(connection, batch.batch_id, BatchState.SUPERSEDED)
        batches.supersede_generation(connection, batch.vendor, batch.generation)
        record.JOB.copy(connection, [job_id])
