"""A ledger with one vendor, for tests of its tables."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest

from shelfsync.catalog.ledger import batches, runs, vendor_runs
from shelfsync.catalog.ledger import jobs as catalog_jobs
from shelfsync.catalog.warehouse import record


@dataclass
class Ledger:
    """A ledger with one vendor, where batches and jobs are quickly made."""

    engine: object
    vendor: str = "store-001"
    _keys = itertools.count(1)

    def run(self) -> tuple[int, int]:
        """(run, generation) of a fresh run for the vendor."""
        with self.engine.begin() as connection:
            run_id = runs.open_run(connection, key=f"test/{next(self._keys)}", kind="delta", vendors=(), dry_run=False)
            generation = vendor_runs.next_generation(connection)
            vendor_runs.begin(connection, run_id, self.vendor, generation=generation, raw_path="raw")
            record.VENDOR.copy(connection, [self.vendor])
            record.RUN.copy(connection, [run_id])
        return run_id, generation

    def batch(self, run_id: int, generation: int, pieces: int = 1) -> list[int]:
        with self.engine.begin() as connection:
            batches.plan(
                connection,
                run_id=run_id,
                vendor=self.vendor,
                generation=generation,
                base_version=0,
                snapshot_path="snapshot",
                pieces=[(f"items-{number}", 10, 100) for number in range(pieces)],
            )
            return [planned.batch_id for planned in batches.planned(connection, self.vendor, run_id)]

    def job(self, batch_id: int) -> int | None:
        with self.engine.begin() as connection:
            plan = batches.read(connection, batch_id).plan
            return catalog_jobs.begin(
                connection, batch_id=batch_id, vendor=self.vendor, plan=plan, sent=10, deadline_s=60
            )


@pytest.fixture
def ledger(engine) -> Ledger:
    return Ledger(engine)
