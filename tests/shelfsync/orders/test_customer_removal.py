"""When a customer's data are removed, and who is meant."""

from __future__ import annotations

import datetime as dt

from shelfsync.orders.customer_removal import is_about, is_long_enough, remove_at


def test_the_days_count_from_the_first_version_of_the_order():
    first = dt.datetime(2031, 3, 1, 12, tzinfo=dt.UTC)
    assert remove_at(first, 30) == dt.datetime(2031, 3, 31, 12, tzinfo=dt.UTC)


def test_a_customer_is_found_by_a_part_of_any_value_however_it_is_written():
    customer = {"name": "Ana-Maria Ruiz", "phones": [{"number": "+34 (600) 111-222"}], "floor": 12345, "note": None}
    assert all(is_about(text, customer) for text in ("anamaria", "Maria Ruiz", "600111222", "(600) 11", "2345"))
    assert not any(is_about(text, customer) for text in ("Ruizz", "600111223", "None"))
    assert [is_long_enough(text) for text in ("12-34", "1 2-3", "(abc)")] == [True, False, False]
