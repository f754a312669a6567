from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shelfsync.catalog.warehouse import record, tables
from shelfsync.schemas import PRICE
from shelfsync.store.bulk import copy_into

texts = st.text(st.characters(blacklist_characters="\x00", blacklist_categories=("Cs",)), max_size=20)


def _outcomes(**columns):
    count = len(columns["sku"])
    base = {
        "state": ["accepted"] * count,
        "reason": [None] * count,
        "change": ["new"] * count,
        "price": pa.array([Decimal("1.250")] * count, PRICE),
        "quantity": [1] * count,
        "active": [True] * count,
        "max_sales_quantity": pa.nulls(count, pa.int64()),
    }
    return pa.table(base | columns)


def test_outcomes_are_loaded_once_however_often(engine, job):
    _, job_id = job
    for _ in range(2):
        with engine.begin() as connection:
            record.load_outcomes(connection, job_id, "store-001", _outcomes(sku=["a", "b"]))
    with engine.connect() as connection:
        rows = connection.execute(sa.select(tables.sku_outcome).order_by(tables.sku_outcome.c.sku)).mappings().all()
    assert [(row["sku"], row["price"], row["max_sales_quantity"]) for row in rows] == [
        ("a", Decimal("1.250"), None),
        ("b", Decimal("1.250"), None),
    ]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reasons=st.lists(st.none() | texts, min_size=1, max_size=5))
def test_any_text_and_null_come_through_a_load_unchanged(engine, job, reasons):
    _, job_id = job
    skus = [f"sku-{number}" for number in range(len(reasons))]
    with engine.begin() as connection:
        record.load_outcomes(
            connection, job_id, "store-001", _outcomes(sku=skus, reason=pa.array(reasons, pa.string()))
        )
        kept = connection.execute(
            sa.select(tables.sku_outcome.c.reason)
            .where(tables.sku_outcome.c.job_id == job_id)
            .order_by(sa.func.length(tables.sku_outcome.c.sku), tables.sku_outcome.c.sku)
        ).scalars()
        assert list(kept) == reasons


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    times=st.lists(st.none() | st.datetimes(dt.datetime(1800, 1, 1), timezones=st.just(dt.UTC)), min_size=1),
    cut=st.integers(0, 5),
)
def test_times_come_through_a_load_to_the_microsecond(engine, times, cut):
    column = pa.chunked_array([pa.array(part, pa.timestamp("us", "UTC")) for part in (times[:cut], times[cut:])])
    rows = pa.table({"place": pa.array(range(len(times))), "at": column})
    with engine.connect() as connection:
        connection.execute(sa.text("CREATE TEMPORARY TABLE copied (place int, at timestamptz)"))
        copy_into(connection, "copied", rows)
        assert list(connection.execute(sa.text("SELECT at FROM copied ORDER BY place")).scalars()) == times
        connection.rollback()


def test_a_load_that_breaks_off_leaves_nothing(engine, job):
    _, job_id = job

    def broken():
        with engine.begin() as connection:
            record.load_outcomes(connection, job_id, "store-001", _outcomes(sku=["a", "b"]))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    with engine.connect() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(tables.sku_outcome)).scalar_one() == 0
