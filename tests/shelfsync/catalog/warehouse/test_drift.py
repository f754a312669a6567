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
from shelfsync.catalog.warehouse.drift import DRIFT, causes, replace_drift, skus_differing
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
