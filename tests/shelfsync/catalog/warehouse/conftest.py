from __future__ import annotations

import pytest

from shelfsync.catalog.ledger import batches, runs, vendor_runs
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.warehouse import record


@pytest.fixture
def job(engine):
    """(run, job) of one job of store-001 that the warehouse knows."""
    with engine.begin() as connection:
        run_id = runs.open_run(connection, key="test/1", kind="full", vendors=(), dry_run=False)
        vendor_runs.begin(connection, run_id, "store-001", generation=1)
        batches.plan(
            connection,
            run_id=run_id,
            vendor="store-001",
            generation=1,
            base_version=0,
            snapshot_path="s",
            pieces=[("i", 2, 10)],
        )
        (batch,) = batches.planned(connection, "store-001", run_id)
        job_id = catalog_jobs.begin(
            connection, batch_id=batch.batch_id, vendor="store-001", plan=batch.plan, sent=2, deadline_s=60
        )
        record.VENDOR.copy(connection, ["store-001"])
        record.RUN.copy(connection, [run_id])
        record.JOB.copy(connection, [job_id])
    return run_id, job_id
