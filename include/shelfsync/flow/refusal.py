"""A request that the platform refuses as a whole (400): halved, until the bad rows stand alone and are refused as SKUs (I10).

The halves of what was cut last leave first, so that a step ends with something sent or a bad row found; both outlive the next delta,
which cuts what is left where this one had come to. A row that stands alone has an outcome like any other: refused, in the platform's words, and
remembered with the values that were wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.flow import rejected
from shelfsync.flow.doubt import leave_in_doubt, may_have_left
from shelfsync.flow.halving import write_halves
from shelfsync.flow.outcomes import all_alike, refused_values, write_outcomes
from shelfsync.ledger import batches, jobs, vendor_runs, vendors
from shelfsync.warehouse import record

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from partner_api.errors import InvalidRequestError
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.batches import PlannedBatch
    from shelfsync.ledger.leases import Lease


def take(parts: Parts, lease: Lease, job_id: int, batch: PlannedBatch, error: InvalidRequestError) -> None:
    """Ends the job, and plans the two halves of its batch or refuses its only SKU.

    Where an earlier request of the job was never answered, its SKUs are in doubt as well: that one may have been taken (I7).
    """
    if may_have_left(parts, job_id):
        leave_in_doubt(parts, lease, job_id, f"an earlier request was never answered, and then: {error}"[:1000])
    if batch.item_count > 1:
        _halve(parts, lease, job_id, batch, error)
    else:
        _refuse(parts, lease, job_id, batch, error)


def _halve(parts: Parts, lease: Lease, job_id: int, batch: PlannedBatch, error: InvalidRequestError) -> None:
    halves = write_halves(parts, batch)
    with parts.engine.begin() as connection:
        lease.hold(connection)
        vendors.sent_in_vain(connection, batch.vendor)
        if jobs.read(connection, job_id).state == "submitting":
            jobs.end(connection, job_id, "refused", str(error)[:1000])
        batches.split(connection, batch, halves)
        record.record_job(connection, job_id)


def _refuse(parts: Parts, lease: Lease, job_id: int, batch: PlannedBatch, error: InvalidRequestError) -> None:
    items = parts.lake.read_table(batch.items_path)
    with parts.engine.connect() as connection:
        job = jobs.read(connection, job_id)
    outcomes = all_alike(items, "refused", str(error))
    wanted = refused_values(parts, batch, outcomes)

    def note(connection: Connection) -> None:
        vendors.sent_in_vain(connection, batch.vendor)
        rejected.remember(parts, connection, batch.vendor, job_id, wanted, otherwise="invalid_value")
        batches.set_state(connection, batch.batch_id, "refused")
        if batches.next_planned(connection, batch.vendor, run_id=batch.run_id) is None:
            vendor_runs.acknowledge(connection, batch.run_id, batch.vendor, batch.generation)

    if job.state == "submitting":
        write_outcomes(parts, lease, job, batch, items, outcomes, end=("refused", str(error)[:1000]), also=note)
        return
    with parts.engine.begin() as connection:
        lease.hold(connection)
        note(connection)
