"""Since when the stores are open."""

from __future__ import annotations

import datetime as dt

import pytest

from shelfsync.alerts.opening_hours import opened_at
from shelfsync.settings.alerts import AlertSettings

BERLIN = "Europe/Berlin"


def at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).astimezone(dt.UTC)


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
