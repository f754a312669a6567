"""deliver: the next batch of a vendor as one request; the job's row is committed before the request leaves."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from partner_api import StreamedBody
from partner_api.errors import (
    AmbiguousError,
    CredentialsError,
    InvalidRequestError,
    PartnerError,
    ThrottledError,
    UnavailableError,
)
from shelfsync import logs, metrics
from shelfsync.budget.switched import sending_to
from shelfsync.catalog.barcode import alike
from shelfsync.errors import ConfigurationError, DataError, StoppedError, TryAgainError
from shelfsync.flow import patience, refusal
from shelfsync.flow.doubt import leave_in_doubt, may_have_left
from shelfsync.flow.each_vendor import Skip, StepReport, each_vendor
from shelfsync.flow.holding import HeldBody, holding
from shelfsync.flow.outcomes import all_alike, write_outcomes
from shelfsync.flow.outlook import outlook
from shelfsync.flow.turned_away import TurnedAway
from shelfsync.inbox import events
from shelfsync.ledger import batches, jobs, switches, vendor_runs, vendors
from shelfsync.warehouse import record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

    from partner_api.models.job import Job as PlatformJob
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.batches import PlannedBatch
    from shelfsync.ledger.leases import Lease
    from shelfsync.ledger.vendor_runs import VendorRun

log = logging.getLogger(__name__)

RESENDS = 2
"""How often an identical request follows one whose answer was lost, before the schedule takes over."""


def deliver(parts: Parts, run_id: int, names: Iterable[str], *, comes_back: bool = True) -> StepReport:
    """Sends one batch a vendor, the most urgent first. What a dead process may have sent is sent again, identical, unless something newer was planned."""
    away = TurnedAway()

    def work(row: VendorRun) -> None:
        if row.state in {"unchanged", "planned"}:  # busy may be by a job of this very run, which died while it sent
            raise Skip("nothing to send")
        with holding(parts, row.vendor) as lease:
            deliver_next(parts, row, lease, away)

    with parts.engine.connect() as connection:
        in_order = batches.most_urgent_first(connection, run_id, names)
    _foretell(parts)
    return each_vendor(parts, run_id, in_order, "deliver", work, comes_back=comes_back)


def _foretell(parts: Parts) -> None:
    """How long it will take, before it begins; a warning when the next run will find this one unfinished."""
    ahead = outlook(parts)
    if ahead.requests:
        told = log.info if ahead.in_time else log.warning
        told("deliver: all that is planned takes %s", ahead.sentence())


def deliver_next(parts: Parts, row: VendorRun, lease: Lease, away: TurnedAway) -> None:
    """Sends the vendor's next batch of this run, or again the one that was on its way.

    A request that is refused as a whole because of what is in it is halved until its bad rows stand alone.
    """
    from shelfsync.catalog.halving import STEP

    for _ in range(STEP):
        job_id, batch = _begin(parts, row, lease)
        with logs.about(job=job_id):
            try:
                _send(parts, lease, job_id, batch, away)
            except InvalidRequestError as error:
                log.warning("deliver: vendor %s, job %d of %d SKUs: %s", row.vendor, job_id, batch.item_count, error)
                refusal.take(parts, lease, job_id, batch, error)
                patience.tell_when_lost(parts, row.vendor, str(error))
            else:
                return
    raise DataError(
        f"the platform refused {STEP} requests in a row as a whole; the rest is sent by catalog_settle. See ledger.job for its words"
    )


def _send(parts: Parts, lease: Lease, job_id: int, batch: PlannedBatch, away: TurnedAway) -> None:
    try:
        answer = _put_again(parts, lease, job_id, batch)
    except (AmbiguousError, InvalidRequestError):
        raise
    except StoppedError as error:
        _stop(parts, lease, job_id, batch, error)
    except ThrottledError as error:  # the whole address is asked to wait: every vendor is concerned
        _give_back(parts, lease, job_id, batch, error)
        raise TryAgainError(str(error), after_s=error.retry_after_s or 0.0) from error
    except (UnavailableError, TryAgainError) as error:  # nothing left, or nothing was let out by the budget
        _give_back(parts, lease, job_id, batch, error)
        raise
    except CredentialsError as error:
        _give_back(parts, lease, job_id, batch, error)
        if not away.alone(parts, batch.vendor, error):
            raise ConfigurationError(
                "shelfsync_platform", str(error), "Nothing was sent with these credentials."
            ) from error
        _give_up(parts, lease, job_id, batch, error)
        raise
    except PartnerError as error:
        _give_up(parts, lease, job_id, batch, error)
        raise
    away.served()
    _take_answer(parts, lease, job_id, batch, answer)


def _stop(parts: Parts, lease: Lease, job_id: int, batch: PlannedBatch, error: StoppedError) -> NoReturn:
    """A person has paused the vendor: what never left is planned again, what may have left stays open until sending goes on."""
    _give_back(parts, lease, job_id, batch, error)
    log.warning("deliver: vendor %s: nothing is sent: %s", batch.vendor, error)
    raise Skip(str(error)) from None


def _put_again(parts: Parts, lease: Lease, job_id: int, batch: PlannedBatch) -> PlatformJob:
    """The request, and after an answer that was lost the identical one: a repeat is harmless."""
    for attempt in range(RESENDS):
        try:
            return _put(parts, lease, job_id, batch)
        except AmbiguousError as error:
            log.warning("deliver: vendor %s, job %d: %s", batch.vendor, job_id, error)
            parts.clock.sleep(2.0 * (attempt + 1))
    return _put(parts, lease, job_id, batch)


def _begin(parts: Parts, row: VendorRun, lease: Lease) -> tuple[int, PlannedBatch]:
    """The job to send: a new one, or the one that a dead process left while sending."""
    with parts.engine.begin() as connection:
        lease.hold(connection)
        stands = vendors.lock(connection, row.vendor)
        stop = switches.stopped(connection, row.vendor, chain=parts.settings.platform.chain)
        if stop is not None:
            log.warning("deliver: vendor %s: nothing is sent: %s", row.vendor, stop)
            raise Skip(str(stop))
        known = jobs.open_job_of(connection, row.vendor)
        begun = _new(parts, connection, row, stands) if known is None else _again(connection, row, known, stands)
    if isinstance(begun, _Outrun):
        leave_in_doubt(parts, lease, begun.job_id, "nobody knows whether it left, and a newer generation was planned")
        raise Skip("a newer run goes on")
    if isinstance(begun, str):
        raise Skip(begun)
    return begun


@dataclass(frozen=True)
class _Outrun:
    """A job that may have left, and must not be sent again because something newer was planned."""

    job_id: int


def _again(
    connection: Connection, row: VendorRun, known: jobs.Job, stands: vendors.Vendor
) -> tuple[int, PlannedBatch] | _Outrun | str:
    """The open job, when it may be sent once more; otherwise why not."""
    if known.run_id != row.run_id or known.state != "submitting":
        return f"job {known.job_id} is {known.state}"
    batch = batches.read(connection, known.batch_id)
    if stands.fence <= batch.generation:
        return known.job_id, batch
    if known.attempts:
        return _Outrun(known.job_id)
    jobs.end(connection, known.job_id, "superseded", "it never left, and a newer generation was planned")
    batches.set_state(connection, batch.batch_id, "superseded")
    return "a newer run goes on"


def _new(
    parts: Parts, connection: Connection, row: VendorRun, stands: vendors.Vendor
) -> tuple[int, PlannedBatch] | str:
    """A job for the next planned batch; otherwise why there is none."""
    from shelfsync.catalog.halving import next_of

    waiting = batches.planned(connection, row.vendor, row.run_id)
    if not waiting:
        return "nothing is left to send"
    planned = next_of(waiting, stands.in_vain)
    why_not = _stale(connection, stands, planned) or patience.why_wait(parts, connection, row, stands, planned)
    if why_not is not None:
        return why_not
    job_id = jobs.begin(
        connection,
        batch_id=planned.batch_id,
        vendor=row.vendor,
        sent=planned.item_count,
        deadline_s=parts.settings.sync.job_deadline_s,
        after_event=events.newest(connection),
    )
    return "another job of this vendor is open" if job_id is None else (job_id, planned)


def _stale(connection: Connection, stands: vendors.Vendor, planned: PlannedBatch) -> str | None:
    """Why a planned batch must not be sent any more: the fence is past it, or its base is no longer what was acknowledged (I4)."""
    base = vendors.current_baseline(connection, planned.vendor)
    moved_by_others = stands.baseline_version != planned.base_version and (
        base is None or base.generation != planned.generation
    )
    if stands.fence <= planned.generation and not moved_by_others:
        return None
    why = (
        f"a newer run has planned generation {stands.fence}, this one is {planned.generation}; nothing older is sent"
        if stands.fence > planned.generation
        else "the baseline moved meanwhile; the next run compares anew"
    )
    batches.supersede_generation(connection, planned.vendor, planned.generation)
    vendor_runs.write(connection, planned.run_id, planned.vendor, state="superseded", error=why)
    return why


def _put(parts: Parts, lease: Lease, job_id: int, batch: PlannedBatch) -> PlatformJob:
    from shelfsync.catalog.batch import stream

    platform = parts.settings.platform
    items = parts.lake.read_table(batch.items_path)
    body = stream(items, key=platform.key, sales_limit_name=platform.sales_limit_name, body_bytes=batch.body_bytes)
    with parts.engine.begin() as connection:
        lease.hold(connection)
        jobs.count_attempt(connection, job_id)
    held = StreamedBody(HeldBody(body, parts, lease), batch.body_bytes)
    with sending_to(batch.vendor):
        return parts.open_platform().update_catalog(batch.vendor, held, lane=batch.lane)


def _take_answer(parts: Parts, lease: Lease, job_id: int, batch: PlannedBatch, answer: PlatformJob) -> None:
    """Notes what the platform said: a job to wait for, a single SKU done at once, or something nobody can ask about."""
    metrics.count("deliver.requests")
    metrics.count("deliver.skus", batch.item_count)
    with parts.engine.begin() as connection:
        lease.hold(connection)
        batches.set_state(connection, batch.batch_id, "sent")
        believed = answer.job_id is not None and jobs.answered(
            connection,
            job_id,
            platform_job_id=answer.job_id,
            status=answer.status,
            poll_after_s=parts.settings.sync.poll_first_s,
        )
        record.record_job(connection, job_id)
    if not believed and not _done_at_once(parts, lease, job_id, batch, answer):
        _unbelieved(parts, lease, job_id, batch, answer)


def _done_at_once(parts: Parts, lease: Lease, job_id: int, batch: PlannedBatch, answer: PlatformJob) -> bool:
    """The older form of an answer, 200 with what the single item was called by, under `sku`: the platform's word for this key."""
    if answer.job_id is not None or batch.item_count != 1:
        return False
    items = parts.lake.read_table(batch.items_path)
    sent = str(items[parts.settings.platform.key][0].as_py())
    told = str(answer.raw.get("sku"))
    if told != sent and not (parts.settings.platform.key == "barcode" and alike(told, sent)):
        return False
    with parts.engine.connect() as connection:
        job = jobs.read(connection, job_id)
    write_outcomes(parts, lease, job, batch, items, all_alike(items, "accepted", None))
    return True


def _unbelieved(parts: Parts, lease: Lease, job_id: int, batch: PlannedBatch, answer: PlatformJob) -> None:
    why = (
        "the platform took the request and named no job, so nobody can ask what became of it"
        if answer.job_id is None
        else f"the platform answered with job {answer.job_id}, which belongs to another request"
    )
    leave_in_doubt(parts, lease, job_id, why)
    raise DataError(f"job {job_id}: {why}; its {batch.item_count} SKUs are unconfirmed and will be sent again")


def _give_back(parts: Parts, lease: Lease, job_id: int, batch: PlannedBatch, error: Exception) -> None:
    """This request did nothing: the batch is planned again. A job of which an earlier request may have been taken stays open, to be repeated."""
    if may_have_left(parts, job_id):
        return
    with parts.engine.begin() as connection:
        lease.hold(connection)
        jobs.end(connection, job_id, "superseded", str(error)[:1000])
        batches.set_state(connection, batch.batch_id, "planned")


def _give_up(parts: Parts, lease: Lease, job_id: int, batch: PlannedBatch, error: PartnerError) -> None:
    """The platform does not take this vendor's requests at all: what is planned of this generation is given up."""
    doubtful = may_have_left(parts, job_id)
    if doubtful:
        leave_in_doubt(parts, lease, job_id, f"an earlier request was never answered, and then: {error}"[:1000])
    with parts.engine.begin() as connection:
        lease.hold(connection)
        if not doubtful:
            jobs.end(connection, job_id, "refused", str(error)[:1000])
        batches.set_state(connection, batch.batch_id, "superseded")
        batches.supersede_generation(connection, batch.vendor, batch.generation)
        record.record_job(connection, job_id)
