"""Jitter on the way slows no later request, and costs two percent of the limit."""

from __future__ import annotations

import datetime as dt

import pytest

from shelfsync.platform.rate_limit import jitter
from shelfsync.platform.rate_limit.sliding_window import Rate


def test_the_default_uses_98_percent_of_60_a_minute():
    assert Rate(60).spacing == jitter.spacing(60, 60.0, 1.2) == dt.timedelta(seconds=1.02)


def test_a_spacing_is_rounded_up_never_down():
    assert jitter.spacing(7, 1, 0.1) * 7 >= dt.timedelta(seconds=1.1)


@pytest.mark.parametrize("limit", [1, 7, 60])
def test_a_request_that_is_as_late_as_may_be_leaves_its_window_before_the_next_but_so_many(limit):
    """The first of `limit + 1` requests arrives late by all of the jitter, the last in time: they are a window apart."""
    apart = limit * jitter.spacing(limit, 60.0, 1.2) - dt.timedelta(seconds=1.2)
    assert apart >= dt.timedelta(seconds=60)
    assert limit * jitter.spacing(limit, 60.0, 1.2) >= jitter.memory(60.0, 1.2)


def test_a_holder_that_wakes_up_late_has_half_of_the_jitter():
    assert Rate(60).late_s_max == jitter.late_s_max(1.2) == 0.6
