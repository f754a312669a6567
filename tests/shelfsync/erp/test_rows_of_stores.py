"""The conditions by which a run of some stores reads only the rows of these."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from sqlalchemy.dialects import postgresql

from shelfsync.erp.rows_of_stores import DISTINCT_MAX, condition, conditions_of
from shelfsync.erp.vendor_ids import VendorIds

IDS = VendorIds({"ST1": "store-001", "ST2": "store-002"})


def of(value):
    return condition(postgresql.dialect(), "vendor", value)


@pytest.mark.parametrize(
    ("value", "sql"),
    [("ST1", "vendor = 'ST1'"), ("it's", "vendor = 'it''s'"), (7, "vendor = 7"), (Decimal("7.5"), "vendor = 7.5")],
)
def test_a_value_is_compared_as_the_erp_has_it(value, sql):
    assert of(value) == sql


@pytest.mark.parametrize("value", [None, True, 1.5, b"ST1", "50%", "Köln", "a\0", dt.date(2026, 3, 1)])
def test_a_value_that_cannot_be_written_safely_has_no_condition(value):
    assert of(value) is None


def chosen(vendors, values, ids=IDS):
    return conditions_of(vendors, ids, values, [of(value) for value in values])


def test_all_ways_in_which_the_erp_writes_a_store_are_its_rows():
    assert chosen(("store-001",), ["ST1", "st1", " ST1", "ST2", None]) == [
        "vendor = 'ST1'",
        "vendor = 'st1'",
        "vendor = ' ST1'",
    ]
    assert chosen(("7",), [7, 8], VendorIds({})) == ["vendor = 7"]


def test_stores_without_a_row_have_no_condition():
    assert chosen(("store-003",), ["ST1", "ST2"]) == []


def test_one_value_that_cannot_be_written_lets_all_rows_be_read():
    assert conditions_of(("store-001",), IDS, ["ST1", "st1"], ["a", None]) is None
    assert conditions_of(("store-001",), IDS, ["ST1", "ST2"], ["a", None]) == ["a"]


def test_too_many_values_let_all_rows_be_read():
    assert conditions_of(("store-001",), IDS, ["ST1"] * DISTINCT_MAX, ["a"] * DISTINCT_MAX) is None
