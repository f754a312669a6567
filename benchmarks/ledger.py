"""Jobs in a ledger and warehouse, so that outcomes have something to belong to."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from shelfsync.catalog.ledger import batches, runs, vendor_runs
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.warehouse import record
from shelfsync.store import partitions

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine


def open_jobs(engine: Engine, vendors: list[str], sent: int) -> dict[str, int]:
    """One job a vendor, as `deliver` leaves it; their numbers."""
    begun = {}
    with engine.begin() as connection:
        partitions.ensure(connection, "sku_outcome", dt.datetime.now(dt.UTC))
        run_id = runs.open_run(connection, key="bench", kind="full", vendors=(), dry_run=False)
        record.record_vendors(connection, vendors)
        record.record_run(connection, run_id)
        for vendor in vendors:
            generation = vendor_runs.next_generation(connection)
            vendor_runs.begin(connection, run_id, vendor, generation=generation, raw_path="raw")
            batches.plan(
                connection,
                run_id=run_id,
                vendor=vendor,
                generation=generation,
                base_version=0,
                snapshot_path="snapshot",
                pieces=[("items", sent, sent)],
            )
            (planned,) = batches.planned(connection, vendor, run_id)
            job_id = catalog_jobs.begin(
                connection,
                batch_id=planned.batch_id,
                vendor=vendor,
                plan=planned.plan,
                sent=sent,
                deadline_s=3600,
            )
            assert job_id is not None
            record.record_job(connection, job_id)
            begun[vendor] = job_id
    return begun
