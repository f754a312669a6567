"""A clock on the wall shows a time twice in an hour that is repeated, and goes on when it skips one."""

from __future__ import annotations

import datetime as dt

from shelfsync.alerts.wall_clock import is_between, next_shown, when_shown

BERLIN = "Europe/Berlin"


def test_a_time_of_the_repeated_hour_is_shown_twice_and_a_skipped_one_when_the_clock_goes_on():
    twice = when_shown(dt.time(2, 30), dt.date(2026, 10, 25), BERLIN)
    assert [one.hour for one in twice] == [0, 1]
    skipped = when_shown(dt.time(2, 30), dt.date(2026, 3, 29), BERLIN)
    assert skipped == [dt.datetime(2026, 3, 29, 1, tzinfo=dt.UTC)]


def test_the_next_time_is_today_or_tomorrow_and_hours_may_pass_midnight():
    now = dt.datetime(2026, 6, 1, 20, tzinfo=dt.UTC)  # 22:00 in Berlin
    assert next_shown(dt.time(22), now, BERLIN) == now
    assert next_shown(dt.time(8), now, BERLIN) == dt.datetime(2026, 6, 2, 6, tzinfo=dt.UTC)
    local = dt.datetime(2026, 6, 1, 23, 30)
    assert is_between(dt.time(22), local, dt.time(6))
    assert not is_between(dt.time(6), local, dt.time(22))
