"""A picking result of a table's rows."""

from __future__ import annotations

import datetime as dt
import zoneinfo

import pytest

from shelfsync.orders.picking_result import read
from shelfsync.orders.picking_table import gathered

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
ORDER = "00000000-0000-4000-8000-000000000001"


def of_table(**values):
    """The result of one row."""
    [(_, result)] = gathered([{"order_id": ORDER, "result_id": "r", "action": "accept"} | values], BERLIN).whole
    return result


@pytest.mark.parametrize(
    ("word", "found"),
    [
        *((word, True) for word in ("true", " Yes ", "T", 1, "1.0", True)),
        *((word, False) for word in ("No", "f", "0", 0, False)),
        *((word, word) for word in ("ja", "on", "2")),
    ],
)
def test_a_truth_value_has_the_words_of_the_erp_and_any_other_stays_as_it_is(word, found):
    result = of_table(check_first=word)
    assert (type(result["check_first"]), result["check_first"]) == (type(found), found)


@pytest.mark.parametrize(
    "time",
    [
        dt.datetime(2026, 7, 1, 19, 30),
        "2026-07-01 19:30:00",
        "2026-07-01T17:30:00Z",
        dt.datetime(2026, 7, 1, 17, 30, tzinfo=dt.UTC),
    ],
)
def test_a_time_of_a_table_without_a_zone_is_in_that_of_the_chain(time):
    assert read(ORDER, of_table(accepted_for=time)).accepted_for == dt.datetime(2026, 7, 1, 17, 30, tzinfo=dt.UTC)
