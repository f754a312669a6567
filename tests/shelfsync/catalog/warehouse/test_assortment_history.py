"""Observations in the assortment history: each exactly once, in any order, and the state of any instant."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shelfsync.catalog.ledger import observations
from shelfsync.catalog.warehouse import assortment_history
from shelfsync.errors import DataError, TryAgainError
from shelfsync.schemas import OBSERVED

NOON = dt.datetime(2026, 3, 2, 12, 0, tzinfo=dt.UTC)
SKUS = ("A1", "a1", "007", "Ä", 'q"\\\t')
_values = st.fixed_dictionaries(
    {
        "barcode": st.none() | st.just("4006381333931"),
        "price": st.none() | st.integers(0, 3).map(lambda euros: Decimal(euros).quantize(Decimal("0.001"))),
        "active": st.none() | st.booleans(),
        "max_sales_quantity": st.none() | st.integers(0, 2),
    }
)
_states = st.dictionaries(st.sampled_from(SKUS), _values, max_size=len(SKUS))
HISTORY = "SELECT * FROM warehouse.assortment_history ORDER BY vendor, sku, valid_from"


def _table(state):
    rows = [{"sku": sku, **state[sku]} for sku in sorted(state, key=str.encode)]
    return pa.Table.from_pylist(rows, schema=OBSERVED)


class Shelf:
    """One vendor's observations, stored here as in the lake."""

    def __init__(self, engine):
        self.engine = engine
        self.kept = {}
        with engine.begin() as connection:
            connection.execute(sa.text("INSERT INTO ledger.vendor (vendor) VALUES ('v') ON CONFLICT DO NOTHING"))

    def see(self, state, minutes):
        """Recorded, not loaded."""
        rows, at = _table(state), NOON + dt.timedelta(minutes=minutes)
        with self.engine.begin() as connection:
            number = observations.record(
                connection, "v", how="export", path=str(minutes), rows=rows.num_rows, observed_at=at, ended_at=at
            )
        self.kept[number] = rows
        return number

    def before(self):
        with self.engine.connect() as connection:
            last = assortment_history.last_loaded(connection, "v")
        return None if last is None else assortment_history.Loaded(last, self.kept[last.observation_id])

    def load(self, number, before="now"):
        before = self.before() if before == "now" else before
        with self.engine.begin() as connection:
            assortment_history.load_observation(
                connection, observations.read(connection, number), self.kept[number], before=before
            )

    def at(self, minutes):
        """The history as of an instant."""
        statement = sa.text(
            "SELECT sku, barcode, price, active, max_sales_quantity FROM warehouse.assortment_history"
            " WHERE valid_from <= :at AND (valid_to IS NULL OR valid_to > :at)"
        )
        with self.engine.connect() as connection:
            rows = connection.execute(statement, {"at": NOON + dt.timedelta(minutes=minutes)}).mappings().all()
        found = {row["sku"]: {name: value for name, value in row.items() if name != "sku"} for row in rows}
        assert len(found) == len(rows)
        return found

    def query(self, statement=HISTORY):
        with self.engine.connect() as connection:
            return connection.execute(sa.text(statement)).all()

    def clear(self):
        with self.engine.begin() as connection:
            for table in ("warehouse.assortment_history", "warehouse.observation", "ledger.observation"):
                connection.execute(sa.text(f"DELETE FROM {table}"))
        self.kept = {}


@pytest.fixture
def vendor(engine):
    return Shelf(engine)


@pytest.mark.slow
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(observed_states=st.lists(_states, min_size=1, max_size=4))
def test_at_any_instant_the_history_has_the_state_of_the_observation(vendor, observed_states):
    vendor.clear()
    for position, state in enumerate(observed_states):
        number = vendor.see(state, position * 10)
        vendor.load(number)
        loaded = vendor.query()
        vendor.load(number)  # the same file again
        assert vendor.query() == loaded
    for position, state in enumerate(observed_states):
        assert vendor.at(position * 10) == state
        assert vendor.at(position * 10 + 9) == state
    assert vendor.at(-1) == {}
    counts = vendor.query("SELECT rows, rows_new - rows_gone FROM warehouse.observation ORDER BY observed_at")
    assert [rows for rows, _ in counts] == [len(state) for state in observed_states]
    assert sum(moved for _, moved in counts) == len(observed_states[-1])


ONE = {"a": {"barcode": None, "price": Decimal("1.000"), "active": True, "max_sales_quantity": None}}
TWO = {"a": {**ONE["a"], "price": Decimal("2.000")}, "b": ONE["a"]}


def test_an_unchanged_value_keeps_its_span_and_a_changed_one_begins_another(vendor):
    for minutes, state in ((0, ONE), (10, ONE), (20, TWO), (30, {})):
        vendor.load(vendor.see(state, minutes))
    spans = vendor.query(
        "SELECT sku, price, valid_from - now.noon, valid_to - now.noon FROM warehouse.assortment_history,"
        f" (SELECT timestamptz '{NOON.isoformat()}' AS noon) AS now ORDER BY 1, 3"
    )
    minute = dt.timedelta(minutes=1)
    assert spans == [
        ("a", Decimal("1.000"), 0 * minute, 20 * minute),
        ("a", Decimal("2.000"), 20 * minute, 30 * minute),
        ("b", Decimal("1.000"), 20 * minute, 30 * minute),
    ]


def test_an_observation_older_than_the_loaded_one_is_recorded_and_changes_nothing(vendor):
    late = vendor.see(TWO, 0)
    vendor.load(vendor.see(ONE, 10))
    loaded = vendor.query()
    vendor.load(late)
    assert vendor.query() == loaded
    assert vendor.query("SELECT in_history FROM warehouse.observation ORDER BY observed_at") == [(False,), (True,)]


def test_of_two_loads_at_once_the_second_starts_again(vendor):
    stale = vendor.before()
    vendor.load(vendor.see(ONE, 0))
    second = vendor.see(TWO, 10)
    with pytest.raises(TryAgainError, match="another observation was loaded meanwhile"):
        vendor.load(second, before=stale)
    assert vendor.query("SELECT count(*) FROM warehouse.observation") == [(1,)]
    vendor.load(second)
    assert vendor.at(10) == TWO


def test_a_history_changed_by_hand_stops_the_load(vendor):
    vendor.load(vendor.see(ONE, 0))
    with vendor.engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM warehouse.assortment_history"))
    with pytest.raises(DataError, match="changed by hand"):
        vendor.load(vendor.see(TWO, 10))
    assert vendor.query("SELECT count(*) FROM warehouse.observation") == [(1,)]


def test_a_file_that_is_not_the_one_that_was_observed_is_not_loaded(vendor):
    number = vendor.see(TWO, 0)
    vendor.kept[number] = _table(ONE)
    with pytest.raises(DataError, match="nothing was loaded"):
        vendor.load(number)
    assert vendor.query() == []
