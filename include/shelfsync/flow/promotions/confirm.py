"""confirm: what the platform said of each pair moves what it was told, and nothing else does (I2); silence becomes doubt (I7)."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shelfsync.errors import TryAgainError
from shelfsync.flow.each_vendor import TAKEN_PATIENCE_S, Skip
from shelfsync.flow.holding import holding
from shelfsync.flow.isolation import database_is_away, reason_of
from shelfsync.flow.promotions.facts import facts_of, known_vendors
from shelfsync.flow.promotions.wait import ask_the_overdue
from shelfsync.ledger import promotion_jobs, promotion_rejections, promotions
from shelfsync.ledger.leases import LeaseLostError
from shelfsync.ledger.promotion_tables import OPEN_STATES
from shelfsync.promotions.shape import EVERY, TOLD
from shelfsync.warehouse import promotions as record

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.leases import Lease
    from shelfsync.ledger.promotion_jobs import PromotionJob
    from shelfsync.ledger.promotions import Promotion
    from shelfsync.promotions.outcome import Outcomes

log = logging.getLogger(__name__)

ALONE = "*promotions*"
"""What a process holds that sends or confirms promotions, so that no two do at once: a lease beside those of the vendors."""
_SWAPS = 3


@dataclass
class Confirmed:
    """How a round went: jobs settled, jobs left open, and by campaign what failed."""

    done: int = 0
    left: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {"step": "confirm", "done": self.done, "left": self.left, "failed": self.failed}


def confirm(parts: Parts) -> Confirmed:
    """Settles every job that has ended, and, asked about once more, every one past its deadline, of whatever run."""
    told = Confirmed()
    ask_the_overdue(parts)
    try:
        with holding(parts, ALONE, patience_s=TAKEN_PATIENCE_S) as lease:
            _confirm_all(parts, lease, told)
    except Skip as skip:
        log.info("promotions, confirm: %s", skip)
    return told


def _confirm_all(parts: Parts, lease: Lease, told: Confirmed) -> None:
    from shelfsync.promotions.outcome import ENDED

    with parts.engine.connect() as connection:
        jobs = promotion_jobs.open_jobs(connection)
    for job in jobs:
        ended = job.state == "open" and (job.platform_status or "").upper() in ENDED
        if not ended and not job.overdue:
            told.left += 1
            continue
        try:
            if ended:
                _settle(parts, lease, job)
            else:
                in_doubt(parts, lease, job.job_id, _why_silent(job))
                told.failed[job.campaign] = f"job {job.job_id}: {_why_silent(job)}"
        except LeaseLostError:
            raise
        except Exception as error:  # one promotion stops no other (I10)
            if database_is_away(error):
                raise
            log.error("promotions, confirm: campaign %s, job %d: %s", job.campaign, job.job_id, reason_of(error))  # noqa: TRY400
            told.failed[job.campaign] = reason_of(error)
            if ended and job.overdue:
                _end_overdue(parts, lease, job, error)
        else:
            told.done += 1


def _end_overdue(parts: Parts, lease: Lease, job: PromotionJob, trouble: Exception) -> None:
    """The deadline ends a job whose result cannot be read, whatever it raises."""
    try:
        in_doubt(parts, lease, job.job_id, f"its result cannot be used: {reason_of(trouble)}")
    except Exception as error:
        if isinstance(error, LeaseLostError) or database_is_away(error):
            raise
        log.error("promotions, confirm: job %d cannot be ended: %s", job.job_id, reason_of(error))  # noqa: TRY400


def in_doubt(parts: Parts, lease: Lease, job_id: int, why: str) -> None:
    """Ends a job of which nobody knows what became: every SKU of it may be in or out, so the next run says it again."""
    _move(parts, lease, job_id, _silent, state="unconfirmed", error=why)


def refuse(parts: Parts, lease: Lease, job_id: int, why: str) -> None:
    """Ends a job whose request the platform refused as a whole: nothing was done, and it is not tried again at once."""
    with parts.engine.begin() as connection:
        lease.hold(connection)
        job = promotion_jobs.lock(connection, job_id)
        if job.state not in OPEN_STATES:
            return
        have = promotions.read(connection, job.promotion_id)
        promotion_jobs.settled(connection, job_id, "refused", accepted=0, refused=job.sent, unaccounted=0, error=why)
        promotions.failed(connection, have.promotion_id, have.failures)
        _record(connection, job)
        record.load_refused_whole(connection, job, why)


def _settle(parts: Parts, lease: Lease, job: PromotionJob) -> None:
    from shelfsync.promotions.outcome import outcomes

    status = (job.platform_status or "").upper()
    result: dict[str, Any] = {}
    if job.result_path is not None:
        with parts.lake.open(job.result_path) as file:
            result = json.loads(file.read())

    def judge(items: pa.Table, of: tuple[str, ...]) -> Outcomes:
        return outcomes(items, of, status, result, action=job.action)

    _move(parts, lease, job.job_id, judge, state="acknowledged", error=None)


def _silent(items: pa.Table, of: tuple[str, ...]) -> Outcomes:
    from shelfsync.promotions.outcome import outcomes

    return outcomes(items, of, None, None, action="change")


def _move(parts: Parts, lease: Lease, job_id: int, judge: Any, *, state: str, error: str | None) -> None:
    """Outcomes, what was told, refusals and warehouse in one transaction; again when somebody moved it meanwhile."""
    for _ in range(_SWAPS):
        if _try(parts, lease, job_id, judge, state=state, error=error):
            return
    raise TryAgainError(f"promotion job {job_id}: what was told moved {_SWAPS} times meanwhile")


def _try(parts: Parts, lease: Lease, job_id: int, judge: Any, *, state: str, error: str | None) -> bool:
    from shelfsync.promotions.diff import applied, doubted
    from shelfsync.promotions.outcome import rows

    with parts.engine.connect() as connection:
        job = promotion_jobs.read(connection, job_id)
        have = promotions.read(connection, job.promotion_id)
    items = parts.lake.read_table(job.items_path or "")
    of = known_vendors(parts) if EVERY in have.vendors else have.vendors
    outcome: Outcomes = judge(items, of)
    told = TOLD.empty_table() if have.told_path is None else parts.lake.read_table(have.told_path)
    moved = doubted(applied(told if have.there else told.slice(0, 0), outcome.accepted_items), outcome.silent_items)
    refusals = _with_facts(parts, items, outcome.refused)
    silent = outcome.silent_items.num_rows > 0 or (outcome.unaccounted > 0)
    becomes = _state(job, have, moved, silent=silent)
    path = parts.lake.write_table("promotion_told", "all", told if becomes == "ended" else moved)
    if silent and error is None:
        error = f"the platform says {job.platform_status} and does not say of which SKUs"
    with parts.engine.begin() as connection:
        lease.hold(connection)
        job = promotion_jobs.lock(connection, job_id)
        if job.state not in OPEN_STATES:
            return True
        whole = not silent and _is_last(connection, job)
        if not promotions.moved(
            connection,
            have.promotion_id,
            version=have.version,
            told_path=path,
            state=becomes,
            wanted_path=job.wanted_path if whole else None,
            header=None if silent or job.action == "end" else job.header,
            made_elsewhere=_made_elsewhere(job, have),
        ):
            return False
        if silent:
            promotions.failed(connection, have.promotion_id, have.failures)
        promotion_rejections.remember(connection, have.promotion_id, job_id, refusals)
        promotion_rejections.release(connection, have.promotion_id, items["sku"].to_pylist(), but_job=job_id)
        promotion_jobs.settled(
            connection,
            job_id,
            "unconfirmed" if silent else state,
            accepted=outcome.accepted,
            refused=outcome.refused_count,
            unaccounted=outcome.unaccounted,
            error=error,
        )
        _record(connection, job)
        record.load_outcomes(connection, job_id, rows(items, outcome))
        record.move_skus(connection, have.promotion_id, items, moved)
    log.info(
        "promotions, confirm: campaign %s, job %d: %s: %d pairs accepted, %d refused, %d unaccounted",
        job.campaign, job_id, job.platform_status, outcome.accepted, outcome.refused_count, outcome.unaccounted,
    )  # fmt: skip
    return True


def _state(job: PromotionJob, have: Promotion, moved: pa.Table, *, silent: bool) -> str:
    """What the promotion is on the platform now, as far as we know."""
    if job.action == "end" and not silent:
        return "ended"
    if moved.num_rows or silent:
        return "told"
    return "told" if have.there else "ended" if have.state == "ended" else "failed"


def _made_elsewhere(job: PromotionJob, have: Promotion) -> bool:
    """A first request, sent once, that is a DUPLICATE: the platform has such a promotion, and not from us."""
    duplicate = (job.platform_status or "").upper() == "DUPLICATE"
    return duplicate and job.action == "create" and job.attempts == 1 and have.version == 0


def _is_last(connection: Connection, job: PromotionJob) -> bool:
    """Whether all that its plan wanted to say of the promotion has been taken with this job."""
    mine = [one for one in promotion_jobs.of_run(connection, job.run_id) if one.promotion_id == job.promotion_id]
    return all(one.job_id == job.job_id or one.state == "acknowledged" for one in mine)


def _why_silent(job: PromotionJob) -> str:
    if job.state == "submitting":
        return "its answer was lost, and its deadline has passed; it will be sent again"
    return (
        f"the platform has not ended it before its deadline (last word: {job.platform_status}); it will be sent again"
    )


def _with_facts(parts: Parts, items: pa.Table, refused: pa.Table) -> pa.Table:
    """Refused pairs with what was wanted, and what was known of each SKU: when that changes they are tried again."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.catalog.alignment import aligned, column, positions

    parts_of = []
    for vendor in pc.unique(refused["vendor"]).to_pylist():
        rows = refused.filter(pc.equal(refused["vendor"], vendor))
        skus = column(rows, "sku")
        wanted = items.take(positions(skus, column(items, "sku"))).select(["subtype", "value", "max_quantity"])
        facts = facts_of(parts, vendor)
        rows = rows.append_column("base_price", aligned(facts, skus, ("price",))["price"])
        rows = rows.append_column("known", pc.is_in(skus, value_set=column(facts, "sku")))
        for name in wanted.column_names:
            rows = rows.append_column(name, wanted[name])
        parts_of.append(rows)
    return pa.concat_tables(parts_of) if parts_of else refused


def _record(connection: Connection, job: PromotionJob) -> None:
    record.record_promotion(connection, job.promotion_id)
    record.record_job(connection, job.job_id)
