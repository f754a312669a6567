"""What a run will take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.platform.rate_limit.forecast import Requests, Use, forecast
from shelfsync.platform.rate_limit.priorities import PRIORITIES
from shelfsync.platform.rate_limit.sliding_window import Rate


def test_a_thousand_vendors_do_not_fit_a_quarter_of_an_hour():
    requests = Requests(jobs=1000).total
    assert requests == 3001
    result = forecast(Rate(60), requests, every_s=900)
    assert result.minutes == pytest.approx(3001 * 1.02 / 60)
    assert result.in_time is False
    assert "NOT done before the next run is due" in result.sentence()


def test_thirty_vendors_do():
    result = forecast(Rate(60), Requests(jobs=30, logs_a_job=0).total, every_s=900)
    assert result.in_time is True
    assert result.sentence().startswith("61 requests, 1.0 min")


def test_the_use_of_the_limit_names_each_call_and_the_share_of_polls():
    use = Use(24, 200, 86_400, {"put_catalog": 100, "download": 96, "job_status": 3, "promotion_status": 1})
    assert use.polls_share == 0.02
    assert use.sentence().startswith("200 of 86,400 allowed in 24 hours (0.2%): put_catalog 100, download 96, ")
    assert use.sentence().endswith("; 2.0% are status calls")
    assert Use(24, 0, 86_400, {}).sentence() == "0 of 86,400 allowed in 24 hours (0.0%)"


def test_part_of_a_poll_is_a_whole_request():
    assert Requests(jobs=3, polls_a_job=0.5, logs_a_job=0, others=0).total == 5


@given(
    requests=st.integers(0, 10_000),
    ahead=st.integers(0, 100),
    paused_s=st.floats(0, 3600),
    priority=st.sampled_from([priority.name for priority in PRIORITIES]),
)
def test_company_and_pauses_only_ever_make_it_longer(requests, ahead, paused_s, priority):
    alone = forecast(Rate(60), requests, priority=priority)
    busy = forecast(Rate(60), requests, priority=priority, ahead=ahead, paused_s=paused_s)
    assert alone.minutes <= busy.minutes <= busy.minutes_at_floor
    assert alone.in_time is None
