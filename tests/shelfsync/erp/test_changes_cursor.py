"""The values of a cursor: how far before it a reading begins, and which time is too far ahead."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from shelfsync.erp.changes_cursor import Number, Time


@pytest.mark.parametrize("text", ["2026-03-01 10:00:00", "2026-03-01T10:00:00+02:00"])
def test_a_time_keeps_its_form_and_begins_an_overlap_earlier(text):
    assert str(Time.of(text)) == text
    assert str(Time.of(text).before(Decimal(300))) == text.replace("10:00", "09:55")


def test_a_date_is_its_midnight_and_a_number_stays_whole():
    assert str(Time.of(dt.date(2026, 3, 1))) == "2026-03-01 00:00:00"
    assert str(Number.of("4711.0").before(Decimal(11))) == "4700"
    with pytest.raises(ValueError, match="nan"):
        Number.of("nan")


def test_an_overlap_before_the_first_year_is_none():
    first = Time.of("0001-01-01 00:00:00")
    assert first.before(Decimal(300)) == first


def test_what_can_be_true_now_ends_two_days_ahead():
    now = dt.datetime.now()  # noqa: DTZ005  the ERP's own time has no zone
    assert (
        Time.of(now + dt.timedelta(days=1, hours=23))
        < Time.of(now).ahead()
        < Time.of(now + dt.timedelta(days=2, hours=1))
    )
