"""An old month is dropped as a whole, and never while a transaction reads its table."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import sqlalchemy as sa

from shelfsync.catalog.warehouse import record
from shelfsync.housekeeping.old_months import drop_old_months

ROWS = pa.table({"sku": ["a", "b"], "state": ["accepted"] * 2, "change": ["new"] * 2})
THE_TURN = "2031-12-31T23:59:59.999999Z"


def _load(engine, job_id, at):
    with engine.begin() as connection:
        connection.execute(sa.text("SELECT set_config('shelfsync.instant', :at, true)"), {"at": at})
        record.load_outcomes(connection, job_id, "store-001", ROWS)


def _jobs(engine):
    with engine.connect() as connection:
        return connection.execute(sa.text("SELECT job_id FROM warehouse.sku_outcome ORDER BY 1")).scalars().all()


def test_a_month_that_was_dropped_is_created_again_for_a_late_outcome(engine):
    _load(engine, 1, THE_TURN)
    with engine.begin() as connection:
        connection.execute(sa.text("SELECT set_config('shelfsync.instant', '2033-06-01T00:00:00Z', true)"))
        assert drop_old_months(connection, months=3) == ["sku_outcome_2031_12"]
    _load(engine, 2, THE_TURN)
    assert _jobs(engine) == [2, 2]


def test_a_query_that_never_ends_keeps_an_old_month_and_stops_no_load(engine):
    """A person's open transaction has read the table. DROP TABLE would wait for it, and each later load for DROP TABLE."""
    _load(engine, 1, THE_TURN)
    _load(engine, 2, "2033-06-01T00:00:00Z")

    def drop():
        with engine.begin() as connection:
            connection.execute(sa.text("SELECT set_config('shelfsync.instant', '2033-06-01T00:00:00Z', true)"))
            return drop_old_months(connection, months=3)

    with ThreadPoolExecutor(2) as pool:
        with engine.connect() as person:
            person.execute(sa.text("SELECT count(*) FROM warehouse.sku_outcome")).scalar_one()
            dropped = pool.submit(drop)
            time.sleep(1)  # until it waits for the lock
            pool.submit(_load, engine, 3, "2033-06-02T00:00:00Z").result(timeout=30)
            assert dropped.result(timeout=30) == []
        assert drop() == ["sku_outcome_2031_12"]
    assert {*_jobs(engine)} == {2, 3}
