"""When an open job is asked about."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shelfsync.platform.jobs.poll_times import PollTimes


def test_each_pause_is_twice_the_one_before_until_the_longest():
    times = PollTimes(first_s=20, max_s=300, deadline_s=14_400)
    assert [times.pause_s(polls) for polls in range(6)] == [40, 80, 160, 300, 300, 300]


@given(st.floats(0.01, 100), st.floats(1, 1000), st.integers(0, 10_000))
def test_a_pause_is_never_longer_than_the_longest_however_often_it_was_asked(first_s, max_s, polls):
    assert 0 < PollTimes(first_s, max_s, 1.0).pause_s(polls) <= max_s
