"""What follows if a job ends as FAILED without an outcome for any SKU.

The next delta sends its rows again. After FAILED_JOBS in a row its batch is cut in two, until the bad rows are alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.catalog.bisection import FAILED_JOBS
from shelfsync.catalog.ledger import batches, vendors
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.steps import rejected_skus
from shelfsync.catalog.steps.outcomes import all_alike, ended_without_log, rejected_values
from shelfsync.catalog.steps.rejected_batch import write_halves
from shelfsync.catalog.steps.vendor_back_off import count_failure
from shelfsync.platform.jobs.poll import known

if TYPE_CHECKING:
    from typing import Any

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.catalog.ledger.batches import PlannedBatch
    from shelfsync.catalog.ledger.jobs import CatalogJob
    from shelfsync.context import Context

WORDS = ended_without_log("FAILED")
"""The reason of a row that fails alone. Its kind is `unclear`, so it is retried later."""


@dataclass(frozen=True)
class Failure:
    """What follows: `halves` to send in place of the batch, or `rows` to reject. If neither, the next delta sends the rows again."""

    halves: list[tuple[str, int, int]]
    rows: list[dict[str, Any]]


def failure_of(context: Context, job: CatalogJob, batch: PlannedBatch, items: pa.Table) -> Failure | None:
    """What follows from a job without an outcome for any SKU; None if its status is not FAILED."""
    if (known(context, job).status or "").upper() != "FAILED":
        return None
    with context.engine.connect() as connection:
        failures = vendors.read(connection, job.vendor).consecutive_failures + _counts(connection, job, batch)
    if batch.halved_from is None and failures < FAILED_JOBS:
        return Failure([], [])
    if batch.item_count > 1:
        return Failure(write_halves(context, batch), [])
    return Failure([], rejected_values(context, batch, all_alike(items, "rejected", WORDS)))


def write_failure(
    context: Context, connection: Connection, job: CatalogJob, batch: PlannedBatch, failure: Failure
) -> None:
    """Writes what follows, in the transaction that ends the job."""
    if _counts(connection, job, batch):
        count_failure(context, connection, job.vendor)
    rejected_skus.remember(context, connection, job.vendor, job.job_id, failure.rows)
    if failure.halves:
        batches.split(connection, batch, failure.halves)


def _counts(connection: Connection, job: CatalogJob, batch: PlannedBatch) -> int:
    """1 if this failure counts, else 0: one failure of the platform may end all jobs of a generation, and counts once."""
    return int(batch.halved_from is not None or not catalog_jobs.failed_before(connection, job))
