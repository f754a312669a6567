"""Unconfirmed: a job ends with an unknown outcome. Every SKU is unaccounted, and its baseline becomes unknown (I7).

An unchanged baseline would be wrong. If the ERP reverts a value meanwhile, it equals the baseline, so no delta would correct the
platform, which may have accepted the sent value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync import metrics
from shelfsync.catalog.ledger import batches, vendors
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.steps.known_values import write_known
from shelfsync.catalog.steps.outcomes import all_alike, write_outcomes
from shelfsync.catalog.warehouse import load
from shelfsync.errors import TryAgainError
from shelfsync.platform.jobs.table import State

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.context import Context
    from shelfsync.store.leases import Lease

SWAPS = 3
"""How often a baseline that changed meanwhile is read again before the schedule retries."""


class _MovedError(Exception):
    """The baseline has changed since it was read."""


def leave_unconfirmed(context: Context, lease: Lease, job_id: int, why: str) -> int:
    """Ends a job as unconfirmed, with its outcomes and its unknown baseline in one transaction; returns the number of its SKUs."""
    for _ in range(SWAPS):
        try:
            return _try(context, lease, job_id, why)
        except _MovedError:
            continue
    raise TryAgainError(f"job {job_id}: the baseline of its vendor moved {SWAPS} times meanwhile")


def _try(context: Context, lease: Lease, job_id: int, why: str) -> int:
    import pyarrow.compute as pc

    from shelfsync.catalog.acknowledge import with_unconfirmed
    from shelfsync.schemas import BASELINE

    with context.engine.connect() as connection:
        job = catalog_jobs.read(connection, job_id)
        batch = batches.read(connection, job.batch_id)
        base = vendors.current_baseline(connection, job.vendor)
    items = context.lake.read_table(batch.items_path)
    outcomes = all_alike(items, "unaccounted", why)
    moved = with_unconfirmed(
        BASELINE.empty_table() if base is None else context.lake.read_table(base.path), items, outcomes
    )
    path = context.lake.write_table("baseline", job.vendor, moved)
    known_path = write_known(context, job.vendor, moved, base, items)
    rows = moved.filter(pc.is_in(moved["sku"], value_set=items["sku"].combine_chunks()))

    def move(connection: Connection) -> None:
        expected = 0 if base is None else base.version
        vendors.lock(connection, job.vendor)
        if not vendors.move_baseline(
            connection,
            job.vendor,
            expected=expected,
            path=path,
            known_path=known_path,
            rows=moved.num_rows,
            generation=job.generation,
            job_id=job_id,
        ):
            raise _MovedError
        load.move_baseline(connection, job_id, job.vendor, rows)

    write_outcomes(context, lease, job, batch, items, outcomes, end=(State.UNCONFIRMED, why), also=move)
    metrics.count("confirm.jobs.unconfirmed")
    return int(items.num_rows)
