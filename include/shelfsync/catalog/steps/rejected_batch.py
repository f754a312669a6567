"""What follows if the platform rejects a batch as a whole: two halves, or a rejected SKU.

How the halves find the bad rows is in `catalog.bisection`. The next delta continues a search that is not finished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.assortment.acknowledged_rows import acknowledged_rows
from shelfsync.catalog.bisection import SuspectBatch, halves
from shelfsync.catalog.bodies import stream
from shelfsync.catalog.co_sent_fields import with_active_if_single
from shelfsync.catalog.ledger import batches, vendor_runs, vendors
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.state import BatchState
from shelfsync.catalog.steps import rejected_skus
from shelfsync.catalog.steps.outcomes import all_alike, rejected_values, write_outcomes
from shelfsync.catalog.steps.vendor_back_off import count_failure
from shelfsync.catalog.warehouse import record
from shelfsync.platform.jobs import job as job_row
from shelfsync.platform.jobs.table import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

    from partner_api.errors import InvalidRequestError
    from shelfsync.catalog.ledger.batches import PlannedBatch
    from shelfsync.context import Context
    from shelfsync.vendors.lease import Lease


def write_halves(context: Context, batch: PlannedBatch) -> list[tuple[str, int, int]]:
    """The two halves of a batch of two rows or more, in the lake: path, items, bytes of each."""
    platform = context.settings.platform
    with context.engine.connect() as connection:
        base = vendors.current_baseline(connection, batch.vendor)
    held = acknowledged_rows(context, batch.vendor, base)
    found = []
    for piece in halves(context.lake.read_table(batch.items_path)):
        half = with_active_if_single(piece, held)
        size = len(stream(half, key=platform.item_key, sales_limit_name=platform.sales_limit_name))
        found.append((context.lake.write_table("batch", batch.vendor, half), half.num_rows, size))
    return found


def suspects(context: Context, halves: Iterable[PlannedBatch]) -> list[SuspectBatch]:
    """The unsent halves of older generations. The next delta is cut in the same places, so that no rows are searched twice."""
    found = []
    for one in halves:
        rows = context.lake.read_or_none(one.items_path, ["sku"])
        if rows is None:
            continue  # then it is searched again
        skus = rows["sku"]
        found.append(SuspectBatch(skus[0].as_py(), skus[-1].as_py(), one.halved_from or 0))
    return found


def halve_or_reject(
    context: Context, lease: Lease, job_id: int, batch: PlannedBatch, error: InvalidRequestError
) -> None:
    """Ends the job unless it has ended as unconfirmed, and plans the two halves of its batch or rejects its only SKU."""
    if batch.item_count > 1:
        _halve(context, lease, job_id, batch, error)
    else:
        _reject(context, lease, job_id, batch, error)


def _halve(context: Context, lease: Lease, job_id: int, batch: PlannedBatch, error: InvalidRequestError) -> None:
    halves = write_halves(context, batch)
    with context.engine.begin() as connection:
        lease.hold(connection)
        count_failure(context, connection, batch.vendor)
        if job_row.state_of(connection, job_id) == State.SUBMITTING:
            job_row.end(connection, job_id, State.REJECTED, str(error)[:1000])
        batches.split(connection, batch, halves)
        record.JOB.copy(connection, [job_id])


def _reject(context: Context, lease: Lease, job_id: int, batch: PlannedBatch, error: InvalidRequestError) -> None:
    items = context.lake.read_table(batch.items_path)
    with context.engine.connect() as connection:
        job = catalog_jobs.read(connection, job_id)
    outcomes = all_alike(items, "rejected", str(error))
    wanted = rejected_values(context, batch, outcomes)

    def note(connection: Connection) -> None:
        count_failure(context, connection, batch.vendor)
        rejected_skus.remember(context, connection, batch.vendor, job_id, wanted, otherwise="invalid_value")
        batches.set_state(connection, batch.batch_id, BatchState.REJECTED)
        others = batches.others_left(batch)
        vendor_runs.acknowledge(connection, batch.run_id, batch.vendor, batch.generation, unless=others)

    if job.state == State.SUBMITTING:
        write_outcomes(context, lease, job, batch, items, outcomes, end=(State.REJECTED, str(error)[:1000]), also=note)
        return
    with context.engine.begin() as connection:
        lease.hold(connection)
        note(connection)
