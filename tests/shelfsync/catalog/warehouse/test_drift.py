"""The counts of the differences are those of a full count over their rows, whatever was written."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import pyarrow as pa
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from shelfsync.catalog.warehouse import record
from shelfsync.catalog.warehouse.drift import COUNT, DRIFT, causes, replace_drift, skus_differing
from shelfsync.schemas import DRIFT as SCHEMA
from shelfsync.store.keyset_list import page

NOON = dt.datetime(2026, 3, 2, 12, 0, tzinfo=dt.UTC)
VENDORS = ("store-001", "store-002")
_values = st.dictionaries(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["price", "active", "sku"])),
    st.sampled_from(["held", "rejected", "unknown"]),
    max_size=5,
)
_writes = st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.sampled_from(VENDORS), _values), max_size=5)


@pytest.fixture
def observed(engine):
    """Three observations of each of two vendors, an hour apart: (place, vendor) -> number."""
    numbers = {}
    with engine.begin() as connection:
        for vendor in VENDORS:
            connection.execute(sa.text("INSERT INTO ledger.vendor (vendor) VALUES (:vendor)"), {"vendor": vendor})
            record.VENDOR.copy(connection, [vendor])
            for place in range(3):
                numbers[place, vendor] = len(numbers) + 1
                connection.execute(
                    sa.text(
                        "INSERT INTO warehouse.observation (observation_id, vendor, how, path, in_history, observed_at, loaded_at)"
                        " VALUES (:number, :vendor, 'export', 'x', true, :at, :at)"
                    ),
                    {"number": numbers[place, vendor], "vendor": vendor, "at": NOON + dt.timedelta(hours=place)},
                )
    return numbers


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(writes=_writes)
@example(writes=[(2, "store-001", {("a", "price"): "held", ("a", "active"): "rejected", ("b", "price"): "held"})])
def test_the_counts_by_cause_are_those_of_a_full_count(engine, observed, writes):
    for (place, vendor), number in observed.items():
        _write(engine, vendor, number, place, {})
    for place, vendor, values in writes:
        _write(engine, vendor, observed[place, vendor], place, values)
    for asked in ({}, {"vendor": "store-001"}, {"field": "price"}, {"field": "price", "vendor": "store-002"}):
        with engine.connect() as connection:
            rows = page(connection, DRIFT, asked, most=1_000)
            counted = {row["cause"]: (row["rows"], row["stores"]) for row in causes(connection, asked, most=9)}
            in_sight = skus_differing(connection, asked.get("vendor"))
        whole = Counter(row["cause"] for row in rows)
        assert counted == {
            cause: (number, len({row["vendor"] for row in rows if row["cause"] == cause}))
            for cause, number in whole.items()
        }
        if "field" not in asked:
            assert in_sight == len({(row["vendor"], row["sku"]) for row in rows})


def _write(engine, vendor, number, place, values):
    rows = [
        {"sku": sku, "field": name, "cause": cause, "message": "x", "action": "report"}
        for (sku, name), cause in values.items()
    ]
    table = pa.Table.from_pylist(rows, schema=SCHEMA.append(pa.field("action", pa.string())))
    with engine.begin() as connection:
        replace_drift(connection, vendor, number, NOON + dt.timedelta(hours=place), table)


MANY = (
    "INSERT INTO ledger.vendor (vendor) SELECT 'many-' || lpad(n::text, 3, '0') FROM generate_series(1, 100) AS n",
    "INSERT INTO warehouse.vendor (vendor, first_seen_at) SELECT vendor, now() FROM ledger.vendor",
    """
INSERT INTO warehouse.observation (observation_id, vendor, how, path, in_history, observed_at, loaded_at)
SELECT row_number() OVER (), vendor, 'export', 'x', true, at, at
FROM ledger.vendor, (SELECT now() - n * interval '1 day' AS at FROM generate_series(0, 29) AS n) AS days""",
    """
INSERT INTO warehouse.drift (observation_id, sku, field, vendor, cause, action, message, observed_at)
SELECT observation_id, 'sku-' || n, 'price', vendor, CASE WHEN vendor = 'many-090' AND n = 7 THEN 'held' ELSE 'unknown' END, 'report', 'm',
    observed_at
FROM warehouse.observation, generate_series(1, 100) AS n WHERE observed_at > now() - interval '1 hour' OR n < 3""",
)
"""A hundred stores with a hundred differences each in the newest of thirty observations; in one of them one has a cause of its own."""


def _rows_read(plan, table):
    """The rows of a table that an analysed plan read, those that a filter dropped among them."""
    here = 0
    if plan.get("Relation Name") == table:
        here = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    return here + sum(_rows_read(each, table) for each in plan.get("Plans", ()))


@pytest.mark.slow
@pytest.mark.parametrize("order", ["product", "newest export"])
@pytest.mark.parametrize(
    "asked", [{}, {"cause": "held"}, {"vendor": "many-050"}, {"cause": "unknown", "vendor": "many-050"}]
)
def test_a_page_reads_the_differences_of_few_stores(engine, order, asked):
    """A page has at most 50 rows, and a store has 100: what a page reads does not grow with the stores."""
    with engine.begin() as connection:
        for statement in MANY:
            connection.exec_driver_sql(statement)
        for number in connection.exec_driver_sql("SELECT observation_id FROM warehouse.observation").scalars().all():
            connection.execute(sa.text(COUNT), {"observation_id": number})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")
    ran = []
    with engine.connect() as connection:
        sa.event.listen(connection, "before_cursor_execute", lambda *given: ran.append(given[2:4]))
        rows = page(connection, DRIFT, asked, order=order, most=50)
        [(statement, parameters)] = ran
        [plan] = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters).scalar_one()
    assert len(rows) == (1 if asked.get("cause") == "held" else 50)
    assert 0 < _rows_read(plan["Plan"], "drift") <= 300, plan
