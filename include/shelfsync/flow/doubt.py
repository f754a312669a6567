"""doubt: a job ends and nobody knows what became of what was sent. Every SKU is unaccounted, and its baseline unknown (I7).

Left as it was, the baseline would lie: a value that the ERP takes back meanwhile equals it, so no delta would ever correct the
platform, which may have taken it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync import metrics
from shelfsync.errors import TryAgainError
from shelfsync.flow.known import write_known
from shelfsync.flow.outcomes import all_alike, write_outcomes
from shelfsync.ledger import batches, jobs, vendors
from shelfsync.warehouse import load

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.flow.house import Parts
    from shelfsync.ledger.leases import Lease

SWAPS = 3
"""How often a baseline that moved meanwhile is read again before the schedule takes over."""


def may_have_left(parts: Parts, job_id: int) -> bool:
    """Whether an earlier request of this job than the present one may have been taken: no later answer says what became of it."""
    with parts.engine.connect() as connection:
        return jobs.read(connection, job_id).attempts > 1


class _MovedError(Exception):
    """The baseline is another one than was read."""


def leave_in_doubt(parts: Parts, lease: Lease, job_id: int, why: str) -> int:
    """Ends a waiting job as unconfirmed, with its outcomes and its doubt in one transaction; its SKUs."""
    for _ in range(SWAPS):
        try:
            return _try(parts, lease, job_id, why)
        except _MovedError:
            continue
    raise TryAgainError(f"job {job_id}: the baseline of its vendor moved {SWAPS} times meanwhile")


def _try(parts: Parts, lease: Lease, job_id: int, why: str) -> int:
    import pyarrow.compute as pc

    from shelfsync.catalog.acknowledge import in_doubt
    from shelfsync.columns import BASELINE

    with parts.engine.connect() as connection:
        job = jobs.read(connection, job_id)
        batch = batches.read(connection, job.batch_id)
        base = vendors.current_baseline(connection, job.vendor)
    items = parts.lake.read_table(batch.items_path)
    outcomes = all_alike(items, "unaccounted", why)
    moved = in_doubt(BASELINE.empty_table() if base is None else parts.lake.read_table(base.path), items, outcomes)
    path = parts.lake.write_table("baseline", job.vendor, moved)
    known_path = write_known(parts, job.vendor, moved, base, items)
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

    write_outcomes(parts, lease, job, batch, items, outcomes, end=("unconfirmed", why), also=move)
    metrics.count("confirm.jobs.unconfirmed")
    return int(items.num_rows)
