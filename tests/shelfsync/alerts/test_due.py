"""When a route takes a message: at once, after its quiet hours, or with its digest."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.alerts.due import due, opened_at
from shelfsync.settings import AlertRoute
from shelfsync.settings.alerts import AlertSettings
from shelfsync.settings.section import ServiceAddress

BERLIN = "Europe/Berlin"
times = st.datetimes(dt.datetime(2026, 1, 1), dt.datetime(2027, 1, 1), timezones=st.just(dt.UTC))
clocks = st.times().map(lambda time: f"{time:%H:%M}")


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


@given(times, clocks, clocks)
def test_law_no_message_is_sent_in_quiet_hours_nor_later_than_their_end(found, begin, end):
    quiet = route(quiet_from=begin, quiet_to=end)
    sent = due(quiet, found, BERLIN)
    assert due(quiet, sent, BERLIN) == sent
    assert dt.timedelta(0) <= sent - found < dt.timedelta(hours=25)


@pytest.mark.parametrize(
    ("begin", "now", "end", "opened"),
    [
        ("07:00", "2026-06-01T07:00+02:00", "22:00", "2026-06-01T07:00+02:00"),
        ("07:00", "2026-06-01T21:59+02:00", "22:00", "2026-06-01T07:00+02:00"),
        ("07:00", "2026-06-01T22:00+02:00", "22:00", None),
        ("18:00", "2026-10-25T03:30+01:00", "04:00", "2026-10-24T18:00+02:00"),  # summer time ended meanwhile
        ("18:00", "2026-06-07T03:30+02:00", "04:00", "2026-06-06T18:00+02:00"),  # Sunday morning belongs to Saturday
        ("07:00", "2026-06-07T12:00+02:00", "22:00", None),  # Sunday
    ],
)
def test_opening_hours_began_on_this_day_or_the_day_before(begin, now, end, opened):
    hours = AlertSettings(open_from=begin, open_to=end, open_days=("mon", "tue", "wed", "thu", "fri", "sat"))
    assert opened_at(hours, at(now), BERLIN) == (None if opened is None else at(opened))


def test_stores_without_opening_hours_are_always_open_and_hours_without_length_are_refused():
    assert opened_at(AlertSettings(), at("2026-06-07T03:30+02:00"), BERLIN).year == 1
    with pytest.raises(ValueError, match="unset both for always"):
        AlertSettings(open_from="00:00", open_to="00:00")


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
