"""Outcomes on their way into file, warehouse and ledger: exactly one for every SKU that was sent (I1)."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

from shelfsync import metrics
from shelfsync.inbox import events
from shelfsync.ledger import batches, jobs, vendors
from shelfsync.warehouse import load, record

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.batches import PlannedBatch
    from shelfsync.ledger.jobs import Job
    from shelfsync.ledger.leases import Lease

log = logging.getLogger(__name__)


def write_outcomes(
    parts: Parts,
    lease: Lease,
    job: Job,
    batch: PlannedBatch,
    items: pa.Table,
    outcomes: pa.Table,
    *,
    end: tuple[str, str] | None = None,
    also: Callable[[Connection], None] | None = None,
) -> None:
    """Keeps the outcomes of a job: file, warehouse and the job's counts, in one transaction with what `also` does.

    The job is then confirmed and waits to be acknowledged; `end` (state, why) ends it without that.
    """
    import pyarrow.compute as pc

    path = parts.lake.write_table("outcome", job.vendor, outcomes)
    state = outcomes["state"]
    counts = {word: pc.sum(pc.equal(state, word)).as_py() or 0 for word in ("accepted", "refused", "unaccounted")}
    urgent = _urgent_accepted(parts, batch, items, outcomes)
    with parts.engine.begin() as connection:
        lease.hold(connection)
        jobs.confirmed(connection, job.job_id, outcomes_path=path, **counts, urgent_accepted=urgent)
        if end is not None:
            jobs.end(connection, job.job_id, *end)
            batches.set_state(connection, batch.batch_id, "done")
        if job.platform_job_id is not None:
            events.mark_processed(connection, job.platform_job_id, up_to=sys.maxsize)
        record.record_job(connection, job.job_id)
        load.load_outcomes(connection, job.job_id, job.vendor, _warehouse_rows(items, outcomes))
        if also is not None:
            also(connection)
    for word, number in counts.items():
        metrics.count(f"confirm.skus.{word}", number)
    log.info("confirm: vendor %s, job %d: %s", job.vendor, job.job_id, counts)


def _urgent_accepted(parts: Parts, batch: PlannedBatch, items: pa.Table, outcomes: pa.Table) -> int:
    """Of the SKUs that are of the batch's lane those with a success line: what rides along is not counted for them."""
    import pyarrow.compute as pc

    from shelfsync.catalog.urgency import lanes
    from shelfsync.columns import BASELINE

    accepted = outcomes.filter(pc.equal(outcomes["state"], "accepted"))["sku"].combine_chunks()
    if len(accepted) in {0, items.num_rows}:
        return batch.urgent_count if len(accepted) else 0
    with parts.engine.connect() as connection:
        path = vendors.baseline_of_version(connection, batch.vendor, batch.base_version)
    known = path is not None and parts.lake.exists(path)
    base = parts.lake.read_table(path) if path is not None and known else BASELINE.empty_table()
    of_lane = pc.equal(lanes(items, base, at_buffer=parts.settings.effect.at_buffer), batch.lane)
    found: int = pc.sum(pc.and_(of_lane, pc.is_in(items["sku"].combine_chunks(), value_set=accepted))).as_py() or 0
    return min(found, batch.urgent_count, len(accepted))


def all_alike(items: pa.Table, state: str, reason: str | None) -> pa.Table:
    """One outcome for every item (OUTCOME shape), all of the same state for the same reason."""
    import pyarrow as pa

    from shelfsync.columns import OUTCOME

    count = items.num_rows
    columns = {
        "sku": items["sku"].combine_chunks(),
        "state": pa.repeat(pa.scalar(state), count),
        "reason": pa.repeat(pa.scalar(reason and reason[:1000], pa.string()), count),
        "raw": pa.nulls(count, pa.string()),
    }
    return pa.Table.from_arrays([columns[name] for name in OUTCOME.names], schema=OUTCOME)


def ended_without_log(status: str | None) -> str:
    """What the platform reported of a job that has no log, in one clause."""
    return f"the platform reported the job as {status} and left no log"


def refused_values(parts: Parts, batch: PlannedBatch, outcomes: pa.Table) -> list[dict[str, Any]]:
    """Refused SKUs with the barcode and the values that the snapshot has for them, so that a delta can tell when they change."""
    import pyarrow.compute as pc

    from shelfsync.columns import FIELDS

    refused = outcomes.filter(pc.equal(outcomes["state"], "refused"))
    if refused.num_rows == 0:
        return []
    reasons = dict(zip(refused["sku"].to_pylist(), refused["reason"].to_pylist(), strict=True))
    snapshot = parts.lake.read_table(batch.snapshot_path, columns=["sku", "barcode", *FIELDS])
    wanted = snapshot.filter(pc.is_in(snapshot["sku"], value_set=refused["sku"].combine_chunks())).to_pylist()
    rows = [{**row, "reason": reasons[row["sku"]] or "no reason given"} for row in wanted]
    gone = set(reasons) - {row["sku"] for row in rows}  # removed SKUs: what was wanted is that they are inactive
    blank: dict[str, Any] = dict.fromkeys(("barcode", *FIELDS))
    return rows + [
        {**blank, "active": False, "sku": sku, "reason": reasons[sku] or "no reason given"} for sku in sorted(gone)
    ]


def _warehouse_rows(items: pa.Table, outcomes: pa.Table) -> pa.Table:
    """Outcomes beside what was sent: sku, state, reason, change and the four values; both tables have the same SKUs in the same order."""
    import pyarrow as pa

    from shelfsync.columns import FIELDS

    columns = {"sku": items["sku"], "state": outcomes["state"], "reason": outcomes["reason"], "change": items["change"]}
    return pa.table(columns | {name: items[name] for name in FIELDS})
