"""What a run will take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.budget.forecast import Requests, forecast
from shelfsync.budget.lanes import LANES
from shelfsync.budget.schedule import Rate


def test_a_thousand_vendors_do_not_fit_a_quarter_of_an_hour():
    requests = Requests(jobs=1000).total
    assert requests == 3001
    told = forecast(Rate(60), requests, every_s=900)
    assert told.minutes == pytest.approx(3001 * 1.02 / 60)
    assert told.in_time is False
    assert "NOT done before the next run is due" in told.sentence()


def test_thirty_vendors_do():
    told = forecast(Rate(60), Requests(jobs=30, logs_a_job=0).total, every_s=900)
    assert told.in_time is True
    assert told.sentence().startswith("61 requests, 1.0 min")


def test_part_of_a_poll_is_a_whole_request():
    assert Requests(jobs=3, polls_a_job=0.5, logs_a_job=0, others=0).total == 5


@given(
    requests=st.integers(0, 10_000),
    ahead=st.integers(0, 100),
    paused_s=st.floats(0, 3600),
    lane=st.sampled_from([lane.name for lane in LANES]),
)
def test_company_and_pauses_only_ever_make_it_longer(requests, ahead, paused_s, lane):
    alone = forecast(Rate(60), requests, lane=lane)
    busy = forecast(Rate(60), requests, lane=lane, ahead=ahead, paused_s=paused_s)
    assert alone.minutes <= busy.minutes <= busy.minutes_at_floor
    assert alone.in_time is None
