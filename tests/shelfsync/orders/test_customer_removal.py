"""When a customer's data are removed."""

from __future__ import annotations

import datetime as dt

from shelfsync.orders.customer_removal import remove_at


def test_the_days_count_from_the_first_version_of_the_order():
    first = dt.datetime(2031, 3, 1, 12, tzinfo=dt.UTC)
    assert remove_at(first, 30) == dt.datetime(2031, 3, 31, 12, tzinfo=dt.UTC)
