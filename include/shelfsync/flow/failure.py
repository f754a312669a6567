"""A job that the platform ended as FAILED and without a word about any SKU: sent again, then halved, then a row that is listed (I10).

One failure is trouble of the moment. Where a vendor's jobs fail again and again, one of its rows may break the platform's worker, and
that must not keep the others from being sold at the right price.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.catalog.halving import FAILURES
from shelfsync.flow import hear, rejected
from shelfsync.flow.halving import write_halves
from shelfsync.flow.outcomes import all_alike, ended_without_log, refused_values
from shelfsync.ledger import batches, vendors

if TYPE_CHECKING:
    from typing import Any

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.batches import PlannedBatch
    from shelfsync.ledger.jobs import Job

WORDS = ended_without_log("FAILED")
"""What a row that fails alone is listed with; `unclear`, so it is tried again after a while."""


@dataclass(frozen=True)
class Failure:
    """What follows from it: `halves` to send in the place of the batch, or `rows` to list; neither: the next delta says it again."""

    halves: list[tuple[str, int, int]]
    rows: list[dict[str, Any]]


def failure_of(parts: Parts, job: Job, batch: PlannedBatch, items: pa.Table) -> Failure | None:
    """What follows from the end of a job of which no SKU was accounted for; None where the platform does not call it FAILED."""
    if (hear.known(parts, job).status or "").upper() != "FAILED":
        return None
    with parts.engine.begin() as connection:
        failures = vendors.lock(connection, job.vendor).in_vain + 1
    if batch.halved_from is None and failures < FAILURES:
        return Failure([], [])
    if batch.item_count > 1:
        return Failure(write_halves(parts, batch), [])
    return Failure([], refused_values(parts, batch, all_alike(items, "refused", WORDS)))


def note(parts: Parts, connection: Connection, job: Job, batch: PlannedBatch, failure: Failure) -> None:
    """Writes down what follows, in the transaction that ends the job."""
    vendors.sent_in_vain(connection, job.vendor)
    rejected.remember(parts, connection, job.vendor, job.job_id, failure.rows)
    if failure.halves:
        batches.split(connection, batch, failure.halves)
