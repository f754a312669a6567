from __future__ import annotations

import datetime as dt
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partner_api.dialect import Dialect
from partner_api.errors import ThrottledError
from partner_api.retry_after import parse

NOW = dt.datetime(2026, 3, 1, 12, 0, tzinfo=dt.UTC)


def read(value, date=None):
    return parse(value, date=date, now=NOW, max_s=3600.0)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("0", 0.0),
        ("17", 17.0),
        (" 2.5 ", 2.5),
        ("1000000000", 3600.0),
        ("9" * 400, 3600.0),
        ("-5", None),
        ("1e9", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("٣", None),
        ("Sun, 01 Mar 2026 12:01:00 GMT", 60.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 3600.0),
        ("Sun, 99 Mar 2026 12:01:00 GMT", None),
    ],
)
def test_every_form_of_retry_after_is_read_within_bounds(value, seconds):
    assert read(value) == seconds


def test_a_date_is_compared_with_the_platforms_clock():
    assert read("Sun, 01 Mar 2026 15:00:30 GMT", date="Sun, 01 Mar 2026 15:00:00 GMT") == 30.0


@given(st.text(max_size=60))
def test_any_text_gives_none_or_seconds_within_bounds(value):
    seconds = read(value)
    assert seconds is None or 0 <= seconds <= 3600


@given(st.datetimes(min_value=dt.datetime(1970, 1, 2), max_value=dt.datetime(9999, 12, 30)))
def test_any_date_gives_seconds_within_bounds(then):
    seconds = read(format_datetime(then.replace(tzinfo=dt.UTC), usegmt=True))
    assert seconds is not None
    assert 0 <= seconds <= 3600


def test_a_short_wait_is_slept_and_the_call_repeated(tools):
    server = tools.platform(tools.http(429, b"", retry_after="7"), tools.http(202, {"job_id": "j"}))
    clock = tools.QuickClock()
    assert tools.client(server, clock=clock).update_catalog("v", b"{}").job_id == "j"
    assert clock.slept == [7.0]


def test_a_long_wait_goes_to_the_caller_shortened_to_the_maximum(tools):
    server = tools.platform(tools.http(429, {"message": "slow down"}, retry_after="1000000000"))
    clock = tools.QuickClock()
    with pytest.raises(ThrottledError, match="Wait") as caught:
        tools.client(server, clock=clock, dialect=Dialect(retry_after_max_s=600)).update_catalog("v", b"{}")
    assert caught.value.retry_after_s == 600
    assert clock.slept == []


@pytest.mark.parametrize("value", [None, "-3", "rubbish"])
def test_without_a_usable_retry_after_the_pauses_grow_and_end(tools, value):
    headers = {"retry_after": value} if value else {}
    server = tools.platform(tools.http(429, b"", **headers))
    clock = tools.QuickClock()
    with pytest.raises(ThrottledError) as caught:
        tools.client(server, clock=clock).list_catalog("v")
    assert caught.value.retry_after_s is None
    assert len(server.of("GET")) == 3
    assert 0.5 <= clock.slept[0] <= 1 <= clock.slept[1] <= 2
