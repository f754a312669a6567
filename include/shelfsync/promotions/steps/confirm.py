"""confirm: only the platform's result of a pair moves the acknowledged state (I2). Without a result, the pair is unconfirmed (I7)."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.steps.each_vendor import TAKEN_WAIT_S, Skip
from shelfsync.catalog.steps.vendor_lease import holding
from shelfsync.errors import TryAgainError
from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs.job_errors import database_is_away, reason_of
from shelfsync.platform.jobs.poll import known
from shelfsync.platform.jobs.table import WAITING, Kind, State
from shelfsync.platform.jobs.wait import poll_overdue
from shelfsync.promotions.ledger import jobs as promotion_jobs
from shelfsync.promotions.ledger import promotions
from shelfsync.promotions.ledger import rejections as promotion_rejections
from shelfsync.promotions.schemas import ACKNOWLEDGED, EVERY
from shelfsync.promotions.steps.assortment import known_assortment, known_vendors
from shelfsync.promotions.warehouse import record
from shelfsync.store.leases import LeaseLostError

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.promotions.ledger.jobs import PromotionJob
    from shelfsync.promotions.ledger.promotions import Promotion
    from shelfsync.promotions.outcome import Outcomes
    from shelfsync.store.leases import Lease

log = logging.getLogger(__name__)

ALONE = "*promotions*"
"""The lease of a process that sends or confirms promotions: no two do so at once. Each vendor has a lease of its own besides."""
_SWAPS = 3


@dataclass
class Confirmed:
    """The result of one round: jobs confirmed, jobs left open, and failures by campaign."""

    done: int = 0
    left: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {"step": "confirm", "done": self.done, "left": self.left, "failed": self.failed}


def confirm(context: Context) -> Confirmed:
    """Confirms every ended job of every run. A job past its deadline is polled once more; if it has not ended, it is unconfirmed."""
    report = Confirmed()
    poll_overdue(context, Kind.PROMOTION)
    try:
        with holding(context, ALONE, wait_s=TAKEN_WAIT_S) as lease:
            _confirm_all(context, lease, report)
    except Skip as skip:
        log.info("promotions, confirm: %s", skip)
    return report


def _confirm_all(context: Context, lease: Lease, report: Confirmed) -> None:
    with context.engine.connect() as connection:
        jobs = promotion_jobs.open_jobs(connection)
    for job in jobs:
        ended = job.state == State.OPEN and known(context, job).ended
        if not ended and not job.overdue:
            report.left += 1
            continue
        try:
            if ended:
                _confirm_job(context, lease, job)
            else:
                leave_unconfirmed(context, lease, job.job_id, _why_unconfirmed(job))
                report.failed[job.campaign] = f"job {job.job_id}: {_why_unconfirmed(job)}"
        except LeaseLostError:
            raise
        except Exception as error:  # one promotion stops no other (I10)
            if database_is_away(error):
                raise
            log.error("promotions, confirm: campaign %s, job %d: %s", job.campaign, job.job_id, reason_of(error))  # noqa: TRY400
            report.failed[job.campaign] = reason_of(error)
            if ended and job.overdue:
                _end_overdue(context, lease, job, error)
        else:
            report.done += 1


def _end_overdue(context: Context, lease: Lease, job: PromotionJob, trouble: Exception) -> None:
    """Ends a job past its deadline whose result cannot be read, for any error."""
    try:
        leave_unconfirmed(context, lease, job.job_id, f"its result cannot be used: {reason_of(trouble)}")
    except Exception as error:
        if isinstance(error, LeaseLostError) or database_is_away(error):
            raise
        log.error("promotions, confirm: job %d cannot be ended: %s", job.job_id, reason_of(error))  # noqa: TRY400


def leave_unconfirmed(context: Context, lease: Lease, job_id: int, why: str) -> None:
    """Ends a job whose outcome is unknown. The platform may have applied any SKU of it, so the next run sends them again."""
    _move(context, lease, job_id, _no_outcome, state=State.UNCONFIRMED, error=why)


def reject(context: Context, lease: Lease, job_id: int, why: str) -> None:
    """Ends a job whose request the platform rejected as a whole: nothing was applied, and it is not retried at once."""
    with context.engine.begin() as connection:
        lease.hold(connection)
        job = promotion_jobs.lock(connection, job_id)
        if job.state not in WAITING:
            return
        have = promotions.read(connection, job.promotion_id)
        job_row.end(connection, job_id, State.REJECTED, why, accepted=0, rejected=job.sent, unaccounted=0)
        promotions.failed(connection, have.promotion_id, have.failures)
        _record(connection, job)
        record.load_rejected_request(connection, job.job_id, why)


def _confirm_job(context: Context, lease: Lease, job: PromotionJob) -> None:
    from shelfsync.promotions.outcome import outcomes

    status = (job.platform_status or "").upper()
    result: dict[str, Any] = {}
    if job.result_path is not None:
        with context.lake.open(job.result_path) as file:
            result = json.loads(file.read())

    def judge(items: pa.Table, of: tuple[str, ...]) -> Outcomes:
        return outcomes(items, of, status, result, action=job.action)

    _move(context, lease, job.job_id, judge, state=State.ACKNOWLEDGED, error=None)


def _no_outcome(items: pa.Table, of: tuple[str, ...]) -> Outcomes:
    from shelfsync.promotions.outcome import outcomes

    return outcomes(items, of, None, None, action="change")


def _move(context: Context, lease: Lease, job_id: int, judge: Any, *, state: State, error: str | None) -> None:
    """Commits outcomes, acknowledged state, rejections and warehouse in one transaction; repeats if another process moved the state."""
    for _ in range(_SWAPS):
        if _try(context, lease, job_id, judge, state=state, error=error):
            return
    raise TryAgainError(f"promotion job {job_id}: its acknowledged state moved {_SWAPS} times meanwhile")


def _try(context: Context, lease: Lease, job_id: int, judge: Any, *, state: State, error: str | None) -> bool:
    from shelfsync.promotions.diff import applied, unconfirmed
    from shelfsync.promotions.outcome import rows

    with context.engine.connect() as connection:
        job = promotion_jobs.read(connection, job_id)
        have = promotions.read(connection, job.promotion_id)
    items = context.lake.read_table(job.items_path or "")
    of = known_vendors(context) if EVERY in have.vendors else have.vendors
    outcome: Outcomes = judge(items, of)
    acknowledged = (
        ACKNOWLEDGED.empty_table()
        if have.acknowledged_path is None
        else context.lake.read_table(have.acknowledged_path)
    )
    moved = unconfirmed(
        applied(acknowledged if have.there else acknowledged.slice(0, 0), outcome.accepted_items),
        outcome.unaccounted_items,
    )
    rejections = _with_assortment(context, items, outcome.rejected)
    unknown = outcome.unaccounted_items.num_rows > 0 or (outcome.unaccounted > 0)
    becomes = _state(job, have, moved, unknown=unknown)
    path = context.lake.write_table("promotion_acknowledged", "all", acknowledged if becomes == "ended" else moved)
    if unknown and error is None:
        error = f"the platform reports {job.platform_status} and names no SKUs"
    with context.engine.begin() as connection:
        lease.hold(connection)
        job = promotion_jobs.lock(connection, job_id)
        if job.state not in WAITING:
            return True
        whole = not unknown and _is_last(connection, job)
        if not promotions.moved(
            connection,
            have.promotion_id,
            version=have.version,
            acknowledged_path=path,
            state=becomes,
            wanted_path=job.wanted_path if whole else None,
            header=None if unknown or job.action == "end" else job.header,
            made_elsewhere=_made_elsewhere(job, have),
        ):
            return False
        if unknown:
            promotions.failed(connection, have.promotion_id, have.failures)
        promotion_rejections.remember(connection, have.promotion_id, job_id, rejections)
        promotion_rejections.release(connection, have.promotion_id, items["sku"].to_pylist(), but_job=job_id)
        job_row.end(
            connection,
            job_id,
            State.UNCONFIRMED if unknown else state,
            error,
            sent=outcome.accepted + outcome.rejected_count + outcome.unaccounted,
            accepted=outcome.accepted,
            rejected=outcome.rejected_count,
            unaccounted=outcome.unaccounted,
        )
        _record(connection, job)
        record.load_outcomes(connection, job_id, rows(items, outcome))
        record.move_skus(connection, have.promotion_id, items, moved)
    log.info(
        "promotions, confirm: campaign %s, job %d: %s: %d pairs accepted, %d rejected, %d unaccounted",
        job.campaign, job_id, job.platform_status, outcome.accepted, outcome.rejected_count, outcome.unaccounted,
    )  # fmt: skip
    return True


def _state(job: PromotionJob, have: Promotion, moved: pa.Table, *, unknown: bool) -> str:
    """The state of the promotion on the platform, as far as the ledger knows."""
    if job.action == "end" and not unknown:
        return "ended"
    if moved.num_rows or unknown:
        return "sent"
    return "sent" if have.there else "ended" if have.state == "ended" else "failed"


def _made_elsewhere(job: PromotionJob, have: Promotion) -> bool:
    """True if the first request, sent once, is a DUPLICATE: the platform has this promotion from another system."""
    duplicate = (job.platform_status or "").upper() == "DUPLICATE"
    return duplicate and job.action == "create" and job.attempts == 1 and have.version == 0


def _is_last(connection: Connection, job: PromotionJob) -> bool:
    """Whether this job is the last of its plan's requests about the promotion to be acknowledged."""
    jobs = promotion_jobs.of_run(connection, job.run_id)
    others = [other for other in jobs if other.promotion_id == job.promotion_id and other.job_id != job.job_id]
    return all(other.state == State.ACKNOWLEDGED for other in others)


def _why_unconfirmed(job: PromotionJob) -> str:
    if job.state == State.SUBMITTING:
        return "its answer was lost, and its deadline has passed; it will be sent again"
    return (
        f"the platform has not ended it before its deadline (last status: {job.platform_status}); it will be sent again"
    )


def _with_assortment(context: Context, items: pa.Table, rejected: pa.Table) -> pa.Table:
    """Rejected pairs with the wanted values and the known assortment of each SKU. When one of these changes, the pair is sent again."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.catalog.alignment import aligned, column, positions

    parts_of = []
    for vendor in pc.unique(rejected["vendor"]).to_pylist():
        rows = rejected.filter(pc.equal(rejected["vendor"], vendor))
        skus = column(rows, "sku")
        wanted = items.take(positions(skus, column(items, "sku"))).select(["subtype", "value", "max_quantity"])
        assortment = known_assortment(context, vendor)
        rows = rows.append_column("base_price", aligned(assortment, skus, ("price",))["price"])
        rows = rows.append_column("known", pc.is_in(skus, value_set=column(assortment, "sku")))
        for name in wanted.column_names:
            rows = rows.append_column(name, wanted[name])
        parts_of.append(rows)
    return pa.concat_tables(parts_of) if parts_of else rejected


def _record(connection: Connection, job: PromotionJob) -> None:
    record.record_promotion(connection, job.promotion_id)
    record.record_job(connection, job.job_id)
