"""Writes outcomes to file, warehouse and ledger: exactly one for every SKU sent (I1).

If a job ends with an unknown outcome, every SKU is unaccounted and its baseline becomes unknown (I7). An unchanged baseline would be wrong:
if the ERP reverts a value meanwhile, it equals the baseline, so no delta would correct the platform, which may have accepted the sent value.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync import metrics
from shelfsync.catalog.baseline import with_unconfirmed
from shelfsync.catalog.ledger import batches, vendors
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.outcome import match, unmatched
from shelfsync.catalog.state import BatchState
from shelfsync.catalog.steps.baseline_version import Base, Move, move_baseline
from shelfsync.catalog.stop_sell import priorities
from shelfsync.catalog.warehouse import record
from shelfsync.inbox import events
from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs.table import State
from shelfsync.schemas import BASELINE, FIELDS, OUTCOME, SNAPSHOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.engine import Connection

    from shelfsync.catalog.ledger.batches import PlannedBatch
    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.context import Context
    from shelfsync.vendors.lease import Lease


log = logging.getLogger(__name__)


def write_outcomes(
    context: Context,
    lease: Lease,
    job: CatalogJob,
    batch: PlannedBatch,
    items: pa.Table,
    outcomes: pa.Table,
    *,
    end: tuple[State, str] | None = None,
    also: Callable[[Connection], None] | None = None,
) -> None:
    """Writes the outcomes of a job: file, warehouse and the job's counts, in one transaction with `also`.

    The job is then confirmed and waits to be acknowledged; `end` (state, why) ends it without that.
    """
    write = _stored(context, job, batch, items, outcomes, end=end)
    with context.engine.begin() as connection:
        lease.hold(connection)
        write(connection)
        if also is not None:
            also(connection)
    _count(job, outcomes)


def _stored(
    context: Context,
    job: CatalogJob,
    batch: PlannedBatch,
    items: pa.Table,
    outcomes: pa.Table,
    *,
    end: tuple[State, str] | None,
) -> Callable[[Connection], None]:
    """Writes the file of the outcomes. What is returned writes them to ledger and warehouse."""
    path = context.lake.write_table("outcome", job.vendor, outcomes)
    counts = _counts(outcomes)
    urgent = _urgent_accepted(context, batch, items, outcomes)

    def write(connection: Connection) -> None:
        processed = [] if job.platform_job_id is None else [events.processed(job.platform_job_id, up_to=sys.maxsize)]
        news = {"outcomes_path": path, **counts, "urgent_accepted": urgent}
        first = job_row.confirmed(connection, job.job_id, *processed, **news)
        if end is not None:
            job_row.end(connection, job.job_id, *end, batches.moved(batch.batch_id, BatchState.DONE))
        record.JOB.copy(connection, [job.job_id])
        rows = _warehouse_rows(items, outcomes)
        if not context.settings.housekeeping.repeated_outcome_days:
            rows = record.without_repeats(connection, job.job_id, rows)
        record.load_outcomes(connection, job.job_id, job.vendor, rows, first=first)

    return write


def _counts(outcomes: pa.Table) -> dict[str, int]:
    state = outcomes["state"]
    return {name: pc.sum(pc.equal(state, name)).as_py() or 0 for name in ("accepted", "rejected", "unaccounted")}


def _count(job: CatalogJob, outcomes: pa.Table) -> None:
    counts = _counts(outcomes)
    for state, number in counts.items():
        metrics.count(f"confirm.skus.{state}", number)
    log.info("confirm: vendor %s, job %d: %s", job.vendor, job.job_id, counts)


def _urgent_accepted(context: Context, batch: PlannedBatch, items: pa.Table, outcomes: pa.Table) -> int:
    """How many SKUs of the batch's priority have a success line. SKUs of other priorities do not count."""
    accepted = outcomes.filter(pc.equal(outcomes["state"], "accepted"))["sku"].combine_chunks()
    if len(accepted) in {0, items.num_rows}:
        return batch.urgent_count if len(accepted) else 0
    with context.engine.connect() as connection:
        path = vendors.baseline_of_version(connection, batch.vendor, batch.base_version)
    base = context.lake.read_if_kept(path, BASELINE)
    of_priority = pc.equal(priorities(items, base, at_buffer=context.settings.suppression.at_buffer), batch.priority)
    found: int = pc.sum(pc.and_(of_priority, pc.is_in(items["sku"].combine_chunks(), value_set=accepted))).as_py() or 0
    return min(found, batch.urgent_count, len(accepted))


def all_alike(items: pa.Table, state: str, reason: str | None) -> pa.Table:
    """One outcome for every item (OUTCOME schema), all of the same state for the same reason."""
    count = items.num_rows
    columns = {
        "sku": items["sku"].combine_chunks(),
        "state": pa.repeat(pa.scalar(state), count),
        "reason": pa.repeat(pa.scalar(reason and reason[:1000], pa.string()), count),
        "raw": pa.nulls(count, pa.string()),
    }
    return pa.Table.from_arrays([columns[name] for name in OUTCOME.names], schema=OUTCOME)


def by_log(context: Context, job: CatalogJob, items: pa.Table, lines: pa.Table) -> pa.Table:
    """The outcomes by lines of a log, or of what stands for one."""
    key = context.settings.platform.item_key
    unmatched_lines = unmatched(items, lines, key).num_rows
    if unmatched_lines:
        log.warning(
            "confirm: vendor %s, job %d: %d lines of the log match no SKU sent",
            job.vendor,
            job.job_id,
            unmatched_lines,
        )
    return match(items, lines, key)


def ended_without_log(status: str | None) -> str:
    """What the platform reported of a job that has no log, in one clause."""
    return f"the platform reported the job as {status} and left no log"


def rejected_values(context: Context, batch: PlannedBatch, outcomes: pa.Table) -> list[dict[str, Any]]:
    """Rejected SKUs with the barcode and values of the snapshot, so that a delta detects when these change.

    A plan that takes a store off sale has no snapshot: the store has left the ERP.
    """
    rejected = outcomes.filter(pc.equal(outcomes["state"], "rejected"))
    if rejected.num_rows == 0:
        return []
    reasons = dict(zip(rejected["sku"].to_pylist(), rejected["reason"].to_pylist(), strict=True))
    snapshot = context.lake.read_or_empty(batch.snapshot_path or None, SNAPSHOT, ["sku", "barcode", *FIELDS])
    wanted = snapshot.filter(pc.is_in(snapshot["sku"], value_set=rejected["sku"].combine_chunks())).to_pylist()
    rows = [{**row, "reason": reasons[row["sku"]] or "no reason given"} for row in wanted]
    gone = set(reasons) - {row["sku"] for row in rows}  # removed SKUs were sent as inactive
    blank: dict[str, Any] = dict.fromkeys(("barcode", *FIELDS))
    return rows + [
        {**blank, "active": False, "sku": sku, "reason": reasons[sku] or "no reason given"} for sku in sorted(gone)
    ]


def _warehouse_rows(items: pa.Table, outcomes: pa.Table) -> pa.Table:
    """Outcomes beside what was sent: sku, state, reason, change and the four values; both tables have the same SKUs in the same order."""
    columns = {"sku": items["sku"], "state": outcomes["state"], "reason": outcomes["reason"], "change": items["change"]}
    return pa.table(columns | {name: items[name] for name in FIELDS})


def leave_unconfirmed(context: Context, lease: Lease, job_id: int, why: str) -> int:
    """Ends a job as unconfirmed, with its outcomes and its unknown baseline in one transaction; returns the number of its SKUs."""
    with context.engine.connect() as connection:
        job = catalog_jobs.read(connection, job_id)
        batch = batches.read(connection, job.batch_id)
    items = context.lake.read_table(batch.items_path)
    outcomes = all_alike(items, "unaccounted", why)
    write = _stored(context, job, batch, items, outcomes, end=(State.UNCONFIRMED, why))

    def report() -> None:
        _count(job, outcomes)
        metrics.count("confirm.jobs.unconfirmed")

    def unknown(base: Base) -> Move:
        moved = with_unconfirmed(base.rows, items, outcomes)
        return Move(moved, job.generation, write, report, job_id=job_id, sent=items)

    move_baseline(context, lease, job.vendor, unknown)
    return int(items.num_rows)
