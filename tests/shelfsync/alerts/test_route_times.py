"""When a route takes a message: at once, after its quiet hours, or with its digest."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfsync.alerts.route_times import due
from shelfsync.settings import AlertRoute
from shelfsync.settings.alerts import AlertSettings
from shelfsync.settings.section import ServiceAddress

BERLIN = "Europe/Berlin"
MINUTE = dt.timedelta(minutes=1)
CHANGES = {
    BERLIN: ("2026-03-29T01:00Z", "2026-10-25T01:00Z"),
    "Australia/Lord_Howe": ("2026-04-04T15:00Z", "2026-10-03T15:30Z"),  # by half an hour
    "America/Havana": ("2026-03-08T05:00Z", "2026-11-01T05:00Z"),  # midnight is skipped, and shown twice
}
"""Zone -> when its clocks are put forward and back."""


def route(**options) -> AlertRoute:
    return AlertRoute(name="ops", address=ServiceAddress("json://localhost"), **options)


def at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).astimezone(dt.UTC)


@pytest.mark.parametrize(
    ("found", "sent"),
    [
        ("2026-06-01T21:59+02:00", "2026-06-01T21:59+02:00"),
        ("2026-06-01T22:00+02:00", "2026-06-02T06:30+02:00"),
        ("2026-06-02T06:29+02:00", "2026-06-02T06:30+02:00"),
        ("2026-06-02T06:30+02:00", "2026-06-02T06:30+02:00"),
        ("2026-10-24T23:00+02:00", "2026-10-25T06:30+01:00"),  # summer time ends in that night
    ],
)
def test_what_comes_in_quiet_hours_is_sent_at_their_end(found, sent):
    assert due(route(quiet_from="22:00", quiet_to="06:30"), at(found), BERLIN) == at(sent)


def test_a_digest_is_sent_at_its_time_of_the_day():
    digest = route(digest_at="08:00")
    assert due(digest, at("2026-06-01T07:59+02:00"), BERLIN) == at("2026-06-01T08:00+02:00")
    assert due(digest, at("2026-06-01T08:01+02:00"), BERLIN) == at("2026-06-02T08:00+02:00")


def test_an_escalation_waits_from_the_opening_and_then_for_the_end_of_quiet_hours():
    later = route(unacknowledged_minutes=20, quiet_from="22:00", quiet_to="06:30")
    opened = at("2026-06-01T21:30+02:00")
    assert due(later, at("2026-06-01T21:31+02:00"), BERLIN, opened_at=opened) == at("2026-06-01T21:50+02:00")
    assert due(later, at("2026-06-01T21:55+02:00"), BERLIN, opened_at=opened) == at("2026-06-01T21:55+02:00")
    late = at("2026-06-01T21:45+02:00")
    assert due(later, late, BERLIN, opened_at=late) == at("2026-06-02T06:30+02:00")


@pytest.mark.parametrize(
    ("options", "found", "sent"),
    [
        ({"digest_at": "02:45"}, "2026-10-25T02:30+02:00", "2026-10-25T02:45+02:00"),
        ({"digest_at": "02:45"}, "2026-10-25T02:30+01:00", "2026-10-25T02:45+01:00"),
        ({"digest_at": "02:15"}, "2026-10-25T02:30+02:00", "2026-10-25T02:15+01:00"),
        ({"digest_at": "02:30"}, "2026-03-29T01:45+01:00", "2026-03-29T03:00+02:00"),
        ({"quiet_from": "22:00", "quiet_to": "02:30"}, "2026-10-25T02:10+02:00", "2026-10-25T02:30+02:00"),
        ({"quiet_from": "22:00", "quiet_to": "02:30"}, "2026-10-25T02:10+01:00", "2026-10-25T02:30+01:00"),
        ({"quiet_from": "22:00", "quiet_to": "02:30"}, "2026-03-29T01:45+01:00", "2026-03-29T03:00+02:00"),
    ],
)
def test_in_the_hour_that_is_repeated_or_skipped_nothing_is_due_in_the_past(options, found, sent):
    assert due(route(**options), at(found), BERLIN) == at(sent)


@st.composite
def moments(draw):
    """A zone, an instant, and two times of the day; many of them in the hours around a change of the clocks."""
    zone = draw(st.sampled_from(sorted(CHANGES)))
    change = at(draw(st.sampled_from(CHANGES[zone])))
    near = st.integers(-100, 100).map(lambda minutes: change + minutes * MINUTE)
    far = st.datetimes(dt.datetime(2026, 1, 1), dt.datetime(2027, 1, 1), timezones=st.just(dt.UTC))
    clocks = st.one_of(near.map(lambda instant: wall(instant, zone)), st.times()).map(lambda time: f"{time:%H:%M}")
    return zone, draw(st.one_of(near, far)), draw(clocks), draw(clocks)


def wall(instant, zone):
    return instant.astimezone(ZoneInfo(zone)).time()


def day(instant, zone):
    return instant.astimezone(ZoneInfo(zone)).date()


def first_shown(found, clock, zone):
    """By looking at the clock each minute: the first instant from then on at which it shows that time, or has skipped it."""
    minute = found.replace(second=0, microsecond=0)
    minute += MINUTE * (minute < found)
    while True:
        before, now = wall(minute - MINUTE, zone), wall(minute, zone)
        was_midnight = day(minute - MINUTE, zone) < day(minute, zone)
        if now == clock or (clock < now and (before < clock or was_midnight)):
            return minute
        minute += MINUTE


@settings(max_examples=100)
@given(moments())
def test_law_no_message_is_sent_in_quiet_hours_nor_later_than_their_end(moment):
    zone, found, begin, end = moment
    quiet = route(quiet_from=begin, quiet_to=end)
    sent = due(quiet, found, zone)
    assert due(quiet, sent, zone) == sent
    assert dt.timedelta(0) <= sent - found < dt.timedelta(hours=25)
    if sent != found and wall(sent, zone) == dt.time.fromisoformat(end):
        assert sent == first_shown(found, dt.time.fromisoformat(end), zone)


@pytest.mark.parametrize(
    "options", [{"quiet_from": "22:00"}, {"quiet_from": "22:00", "quiet_to": "25:00"}, {"digest_at": "8"}]
)
def test_half_quiet_hours_and_impossible_times_are_refused(options):
    with pytest.raises(ValueError, match=r"quiet hours need|is no time of the day"):
        route(**options)


@pytest.mark.parametrize("address", ["file:///etc/passwd", "monitor.example.com/beat", "json://monitor.example.com"])
def test_a_heartbeat_goes_to_a_web_address_alone(address):
    with pytest.raises(ValueError, match="has to begin with https://"):
        AlertSettings(heartbeat=address)


@settings(max_examples=40)
@given(moments())
def test_law_a_digest_is_sent_the_first_time_that_the_clock_shows_its_time(moment):
    zone, found, clock, _ = moment
    assert due(route(digest_at=clock), found, zone) == first_shown(found, dt.time.fromisoformat(clock), zone)
