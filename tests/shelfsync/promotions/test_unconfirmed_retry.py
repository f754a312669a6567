"""A campaign that the platform has not confirmed is tried again after a pause that grows with each failure."""

from __future__ import annotations

from shelfsync.promotions.unconfirmed_retry import pause_s


def test_the_pause_is_ten_minutes_and_doubles_up_to_a_day():
    assert [pause_s(failures) for failures in (1, 2, 3, 8, 9, 1000)] == [600, 1200, 2400, 76_800, 86_400, 86_400]
