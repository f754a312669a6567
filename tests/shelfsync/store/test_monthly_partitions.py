"""A load makes the partition that it needs, whenever it loads, and two at once make one."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pyarrow as pa
import pytest
import sqlalchemy as sa

from shelfsync.catalog.warehouse import record

ROWS = pa.table({"sku": ["a", "b"], "state": ["accepted"] * 2, "change": ["new"] * 2})
THE_TURN = "2031-12-31T23:59:59.999999Z"
AFTER = "2032-01-01T00:00:00Z"


def _load(engine, job_id, at, meet=None):
    with engine.begin() as connection:
        connection.execute(sa.text("SELECT set_config('shelfsync.instant', :at, true)"), {"at": at})
        if meet is not None:
            meet.wait(timeout=30)
        record.load_outcomes(connection, job_id, "store-001", ROWS)


def _stored(engine):
    with engine.connect() as connection:
        query = (
            "SELECT job_id, sku, known_at, tableoid::regclass::text AS kept_in FROM warehouse.sku_outcome ORDER BY 1, 2"
        )
        return connection.execute(sa.text(query)).all()


@pytest.mark.parametrize("at", ["1999-05-31T23:30:00-02:00", THE_TURN, AFTER, "2032-02-29T12:00:00.000001+14:00"])
def test_outcomes_of_any_day_lie_in_the_month_of_their_time(engine, at):
    _load(engine, 1, at)
    when = dt.datetime.fromisoformat(at).astimezone(dt.UTC)
    assert [(row.sku, row.known_at, row.kept_in) for row in _stored(engine)] == [
        (sku, when, f"partition.sku_outcome_{when:%Y_%m}") for sku in "ab"
    ]


def test_a_job_confirmed_again_after_the_end_of_a_month_is_stored_once(engine):
    for at in (THE_TURN, AFTER):
        _load(engine, 1, at)
    assert [(row.sku, row.kept_in) for row in _stored(engine)] == [
        (sku, "partition.sku_outcome_2032_01") for sku in "ab"
    ]


def test_loads_that_need_the_same_new_month_at_once_all_succeed(engine):
    loads = 4
    meet = Barrier(loads)
    with ThreadPoolExecutor(loads) as pool:
        for done in [pool.submit(_load, engine, job_id, AFTER, meet) for job_id in range(1, loads + 1)]:
            done.result(timeout=60)
    assert len(_stored(engine)) == loads * ROWS.num_rows
