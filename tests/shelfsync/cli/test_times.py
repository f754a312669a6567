"""What is no duration and no instant is refused."""

from __future__ import annotations

import datetime as dt

import pytest
import typer

from shelfsync.cli.times import read_duration, read_instant


@pytest.mark.parametrize("text", ["99999999999d", "9999999d", "3651d", "5", "h", ""])
def test_a_duration_that_is_none_or_longer_than_any_is_rejected(text):
    with pytest.raises(typer.BadParameter, match="no duration of at most 3650d"):
        read_duration(text)


@pytest.mark.parametrize("text", ["0001-01-01T00:00+14:00", "9999-12-31T23:59-12:00", "noon"])
def test_an_instant_that_no_clock_shows_is_rejected(text):
    with pytest.raises(typer.BadParameter, match="is no instant"):
        read_instant(text)


def test_minutes_hours_and_days_are_read():
    assert [read_duration(text) for text in ("90m", " 4 h ", "2d", "0min")] == [
        dt.timedelta(minutes=90),
        dt.timedelta(hours=4),
        dt.timedelta(days=2),
        dt.timedelta(0),
    ]
