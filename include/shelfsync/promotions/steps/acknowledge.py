"""acknowledge: the outcomes of ended jobs move ledger and warehouse, many jobs in one transaction (I2).

If another process has moved a promotion meanwhile, its job is judged again against the new state.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs.table import WAITING, State
from shelfsync.promotions.changed_entries import applied, leaving, unconfirmed
from shelfsync.promotions.head import EVERY
from shelfsync.promotions.ledger import jobs as promotion_jobs
from shelfsync.promotions.ledger import promotions
from shelfsync.promotions.ledger import rejections as ledger_rejections
from shelfsync.promotions.outcome import outcomes
from shelfsync.promotions.schemas import ACKNOWLEDGED, ENTRY
from shelfsync.promotions.steps.assortment import known_assortment, known_vendors
from shelfsync.promotions.warehouse import record
from shelfsync.rows.alignment import aligned, column, positions
from shelfsync.store.compare_and_swap import attempts
from shelfsync.store.lake import LostFileError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.promotions.ledger.jobs import PromotionJob
    from shelfsync.promotions.ledger.promotions import Promotion
    from shelfsync.promotions.outcome import Outcomes
    from shelfsync.store.lake import Lake
    from shelfsync.vendors.lease import Lease

log = logging.getLogger(__name__)


@dataclass
class _Judged:
    """A job with its outcomes, and the entries that its promotion has afterwards (ACKNOWLEDGED)."""

    job: PromotionJob
    have: Promotion
    items: pa.Table
    outcome: Outcomes
    moved: pa.Table
    error: str | None
    becomes: str = field(init=False)
    path: str = ""

    def __post_init__(self) -> None:
        self.becomes = _state(self.job, self.have, self.moved, unknown=self.unknown)

    @property
    def unknown(self) -> bool:
        return self.outcome.unaccounted_items.num_rows > 0 or self.outcome.unaccounted > 0


def acknowledge(context: Context, lease: Lease, endings: Mapping[int, str | None]) -> None:
    """Ends jobs of distinct promotions: by the platform's result, or, where a reason is given, as unconfirmed.

    Outcomes, acknowledged states, rejections and warehouse are committed together. An error concerns all of them: nothing was written.
    """
    left = list(endings)
    for _ in attempts(f"the acknowledged state of {len(left)} promotion jobs"):
        left = _try(context, lease, {job_id: endings[job_id] for job_id in left})
        if not left:
            return


def reject(context: Context, lease: Lease, job_id: int, why: str) -> None:
    """Ends a job whose request the platform rejected as a whole: nothing was applied, and it is not retried at once."""
    with context.engine.begin() as connection:
        lease.hold(connection)
        (job,) = promotion_jobs.lock(connection, [job_id])
        if job.state not in WAITING:
            return
        have = promotions.read(connection, job.promotion_id)
        job_row.end(connection, job_id, State.REJECTED, why, accepted=0, rejected=job.sent, unaccounted=0)
        promotions.failed(connection, have.promotion_id, have.failures)
        record.record_promotions(connection, [job.promotion_id])
        record.JOB.copy(connection, [job_id])
        record.load_rejected_request(connection, job_id, why)


def read_acknowledged(lake: Lake, path: str | None) -> pa.Table:
    """The acknowledged entries of a promotion (ACKNOWLEDGED), sorted by sku. In a file of wanted entries, all of them are known."""
    import pyarrow as pa

    if path is None:
        return ACKNOWLEDGED.empty_table()
    entries = lake.read_table(path)
    if "known" not in entries.column_names:
        entries = entries.append_column("known", pa.repeat(pa.scalar(value=True), entries.num_rows))
    return entries.cast(ACKNOWLEDGED)


def _try(context: Context, lease: Lease, endings: Mapping[int, str | None]) -> list[int]:
    """One attempt; the jobs whose promotion another process has moved since it was read."""
    with context.engine.connect() as connection:
        jobs = promotion_jobs.read_all(connection, list(endings))
        have = promotions.read_all(connection, {job.promotion_id for job in jobs})
    every = known_vendors(context) if any(EVERY in row.vendors for row in have.values()) else ()
    judged = [_judge(context.lake, job, have[job.promotion_id], every, endings[job.job_id]) for job in jobs]
    rejections = _rejections(context, judged)
    with context.engine.begin() as connection:
        lease.hold(connection)
        locked = promotion_jobs.lock(connection, list(endings))
        waiting = {job.job_id: job for job in locked if job.state in WAITING}
        judged = [each for each in judged if each.job.job_id in waiting]
        promotions.lock(connection, [each.have.promotion_id for each in judged])
        more = promotion_jobs.with_more_to_come(connection, list(waiting.values()))
        moved = promotions.moved(connection, [_move(each, waiting[each.job.job_id], more) for each in judged])
        done = [each for each in judged if each.have.promotion_id in moved]
        if done:
            _write(connection, done, rejections)
    for each in done:
        log.info(
            "promotions, confirm: campaign %s, job %d: %s: %d pairs accepted, %d rejected, %d unaccounted",
            each.job.campaign, each.job.job_id, each.job.platform_status, each.outcome.accepted, each.outcome.rejected_count,
            each.outcome.unaccounted,
        )  # fmt: skip
    return [each.job.job_id for each in judged if each.have.promotion_id not in moved]


def _judge(lake: Lake, job: PromotionJob, have: Promotion, every: Sequence[str], why: str | None) -> _Judged:
    """The outcomes of one job. `why`: the reason why they are unknown; None: the platform has reported them."""
    acknowledged = read_acknowledged(lake, have.acknowledged_path) if have.there else ACKNOWLEDGED.empty_table()
    of = every if EVERY in have.vendors else have.vendors
    try:
        items = lake.read_table(job.items_path or "")
        gone = False
    except LostFileError:
        if why is None:
            raise
        items, gone = leaving(acknowledged), True  # it may have changed any of them
    if why is None:
        result: dict[str, Any] = {}
        if job.result_path is not None:
            with lake.open(job.result_path) as file:
                result = json.loads(file.read())
        outcome = outcomes(items, of, (job.platform_status or "").upper(), result, action=job.action)
    else:
        outcome = outcomes(items, of, None, None, action="change")
        outcome = dataclasses.replace(outcome, unaccounted=job.sent) if gone else outcome
    moved = unconfirmed(applied(acknowledged, outcome.accepted_items), outcome.unaccounted_items)
    judged = _Judged(job, have, items, outcome, moved, why)
    if judged.becomes == "ended":
        judged.path = have.acknowledged_path or lake.write_table("promotion_acknowledged", "all", acknowledged)
    else:
        judged.path = _path_of(lake, moved, job.wanted_path)
    if judged.unknown and why is None:
        judged.error = f"the platform reports {job.platform_status} and names no SKUs"
    return judged


def _path_of(lake: Lake, moved: pa.Table, wanted_path: str | None) -> str:
    """The file of these entries: that of the plan, if they are exactly what it wants; so the usual case writes nothing."""
    import pyarrow.compute as pc

    if wanted_path is not None and pc.all(moved["known"], min_count=0).as_py():
        wanted = lake.read_table(wanted_path)
        if wanted.schema.names == ENTRY.names and wanted.equals(moved.select(ENTRY.names).cast(wanted.schema)):
            return wanted_path
    return lake.write_table("promotion_acknowledged", "all", moved)


def _move(judged: _Judged, job: PromotionJob, more: set[int]) -> promotions.Move:
    """`job`: the row as it is locked. `more`: promotions with other requests of the same plan that are not acknowledged."""
    have = judged.have
    whole = not judged.unknown and have.promotion_id not in more
    return promotions.Move(
        promotion_id=have.promotion_id,
        version=have.version,
        acknowledged_path=judged.path,
        state=judged.becomes,
        wanted_path=job.wanted_path if whole else None,
        header=None if judged.unknown or job.action == "end" else job.header,
        made_elsewhere=_made_elsewhere(job, have),
        failures=have.failures + 1 if judged.unknown else 0,
    )


def _write(connection: Connection, done: list[_Judged], rejections: Mapping[int, pa.Table]) -> None:
    """All that follows from moved promotions: rejections, the jobs' ends, and the warehouse."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.promotions.outcome import rows

    jobs = [each.job.job_id for each in done]
    rejected = [rejections[job_id] for job_id in jobs if job_id in rejections]
    if rejected:
        ledger_rejections.remember(connection, pa.concat_tables(rejected))
    items = pa.concat_tables([_numbered(each.items.select(["sku"]), each) for each in done])
    job_row.end_all(connection, [_end_of(each) for each in done])
    record.record_promotions(connection, [each.have.promotion_id for each in done])
    record.JOB.copy(connection, jobs)
    judged = [(each.job.job_id, each.items, each.outcome) for each in done]
    record.load_outcomes(connection, jobs, rows(judged))
    changed = [
        each.moved.filter(pc.is_in(each.moved["sku"], value_set=each.items["sku"].combine_chunks())) for each in done
    ]
    entries = [_numbered(part, each).drop_columns(["job_id"]) for part, each in zip(changed, done, strict=True)]
    table = record.incoming(connection, items)
    ledger_rejections.release(connection, table)
    counts = {each.have.promotion_id: each.moved.num_rows for each in done}
    record.move_skus(connection, table, pa.concat_tables(entries), counts)


def _end_of(judged: _Judged) -> dict[str, Any]:
    outcome = judged.outcome
    return {
        "job_id": judged.job.job_id,
        "state": State.UNCONFIRMED if judged.unknown or judged.error is not None else State.ACKNOWLEDGED,
        "error": judged.error,
        "sent": outcome.accepted + outcome.rejected_count + outcome.unaccounted,
        "accepted": outcome.accepted,
        "rejected": outcome.rejected_count,
        "unaccounted": outcome.unaccounted,
    }


def _numbered(table: pa.Table, judged: _Judged) -> pa.Table:
    import pyarrow as pa

    for name, value in (("promotion_id", judged.have.promotion_id), ("job_id", judged.job.job_id)):
        table = table.append_column(name, pa.repeat(pa.scalar(value, pa.int64()), table.num_rows))
    return table


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


def _rejections(context: Context, judged: list[_Judged]) -> dict[int, pa.Table]:
    """By job: its rejected pairs with the wanted values and the known assortment of each SKU. When one of these changes, the pair is sent again."""
    import pyarrow as pa
    import pyarrow.compute as pc

    assortment_of = functools.lru_cache(maxsize=8)(functools.partial(known_assortment, context))
    found = {}
    for each in judged:
        parts, rejected = [], each.outcome.rejected
        for vendor in pc.unique(rejected["vendor"]).to_pylist():
            rows = rejected.filter(pc.equal(rejected["vendor"], vendor))
            skus = column(rows, "sku")
            wanted = each.items.take(positions(skus, column(each.items, "sku"))).select(
                ["subtype", "value", "max_quantity"]
            )
            assortment = assortment_of(vendor)
            rows = rows.append_column("base_price", aligned(assortment, skus, ("price",))["price"])
            rows = rows.append_column("known", pc.is_in(skus, value_set=column(assortment, "sku")))
            for name in wanted.column_names:
                rows = rows.append_column(name, wanted[name])
            parts.append(_numbered(rows, each))
        if parts:
            found[each.job.job_id] = pa.concat_tables(parts)
    return found
