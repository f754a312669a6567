"""When a campaign begins and ends: dates without a time of day, and times that a change of the clock skips or repeats."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.erp.open import open_promotions
from shelfsync.promotions.campaign_dates import minutes
from shelfsync.promotions.head import Fault, Heads
from shelfsync.promotions.schemas import HEAD, RAW, REQUIRED
from shelfsync.settings import PromotionSettings

BERLIN = "Europe/Berlin"
PAGE = Path(__file__).parents[3] / "docs/how-to/promotions.md"
HEAD_ROW = dict.fromkeys(HEAD) | {"campaign": "c1", "name": "Spring"}


def found(start, end, **settings):
    """The head of a campaign, or its fault; and what was told of its times."""
    heads = Heads(PromotionSettings(**settings), time_zone=BERLIN)
    number = heads.find(HEAD_ROW | {"start_time": start, "end_time": end})
    return (number if isinstance(number, Fault) else heads.all[number]), heads.moved.get("c1", [])


def window(start, end, **settings):
    head, _ = found(start, end, **settings)
    return minutes(head.start, head.end, BERLIN)


def test_an_end_without_a_time_of_day_is_the_whole_day_or_not_by_a_setting():
    fault, _ = found("2027-03-01", "2027-03-07")
    assert fault.reason == "end_time_without_time"
    assert "SHELFSYNC_PROMOTIONS__END_DATES" in fault.message
    first = "first minute 2027-03-01 00:00, last minute"
    assert window("2027-03-01", "2027-03-07", end_dates="whole_day") == f"{first} 2027-03-07 23:59 {BERLIN}"
    assert window("2027-03-01", "2027-03-07", end_dates="start_of_day") == f"{first} 2027-03-06 23:59 {BERLIN}"
    assert window("2027-03-01", "2027-03-01", end_dates="whole_day") == f"{first} 2027-03-01 23:59 {BERLIN}"
    assert found("2027-03-01", "2027-03-01", end_dates="start_of_day")[0].reason == "end_before_start"
    assert found("2027-03-01", "9999-12-31", end_dates="whole_day")[0].reason == "end_time_not_a_time"


@given(day=st.dates(dt.date(2000, 1, 1), dt.date(2099, 12, 31)), days=st.integers(1, 400))
def test_a_whole_day_ends_as_the_next_one_begins_whatever_the_clock_does(day, days):
    last = day + dt.timedelta(days=days)
    head, moved = found(day.isoformat(), last.isoformat(), end_dates="whole_day")
    after = last + dt.timedelta(days=1)
    assert head.end == dt.datetime(after.year, after.month, after.day, tzinfo=ZoneInfo(BERLIN))
    assert head.start.astimezone(ZoneInfo(BERLIN)).date() == day
    assert moved == []


@pytest.mark.parametrize(
    ("start", "end", "told"),
    [
        (
            "2027-03-28 02:30",
            "2027-03-30 00:00",
            'start_time "2027-03-28 02:30" is no time in Europe/Berlin, where the clock skips it: 03:30',
        ),
        ("2027-10-30 00:00", "2027-10-31 02:30", 'end_time "2027-10-31 02:30" comes twice in Europe/Berlin'),
    ],
)
def test_a_time_that_the_clock_skips_or_repeats_is_taken_and_told(start, end, told):
    head, moved = found(start, end)
    assert not isinstance(head, Fault)
    [line] = moved
    assert line.startswith(told)
    assert found(f"{start}+01:00", f"{end}+01:00")[1] == [], "with an offset there is one such time"


def test_a_window_that_the_gap_turns_round_says_why():
    fault, _ = found("2027-03-28 02:30", "2027-03-28 03:15")
    assert fault.reason == "end_before_start"
    assert "the clock skips it: 03:30 is taken" in fault.message


def test_the_last_minute_of_the_year_9999_is_told_in_utc():
    utc = dt.UTC
    assert minutes(dt.datetime(2027, 1, 1, tzinfo=utc), dt.datetime.max.replace(tzinfo=utc), BERLIN).endswith("UTC")


@pytest.mark.slow
def test_the_worked_select_of_the_page_makes_the_last_day_a_whole_day(make_settings, empty_database_url):
    url = empty_database_url.replace("postgresql://", "postgresql+psycopg://", 1)
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        for statement in (
            "CREATE TABLE offer (code text, title text, first_day date, last_day date)",
            "CREATE TABLE offer_price (code text, store text, item text, price numeric)",
            "INSERT INTO offer VALUES ('P1', 'Spring', '2099-03-01', '2099-03-07'), ('P2', 'Past', '2020-03-01', '2020-03-07')",
            "INSERT INTO offer_price VALUES ('P1', 'v', 'a', 1.5), ('P2', 'v', 'a', 1.5)",
        ):
            connection.exec_driver_sql(statement)
    [select] = [text for text in re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL) if "offer" in text]
    settings = make_settings(erp={"url": url, "sql": "SELECT 1"}, promotions={"sql": select})
    with open_promotions(settings, RAW, REQUIRED).read() as extract:
        [row] = [row for table in extract for row in table.to_pylist()]
    assert (row["campaign"], row["vendor"], row["sku"], row["price"], row["audience"]) == (
        "P1",
        "v",
        "a",
        "1.5",
        "everybody",
    )
    first = "first minute 2099-03-01 00:00, last minute"
    for end_dates in ("whole_day", "start_of_day"):
        shown = window(row["start_time"], row["end_time"], end_dates=end_dates)
        assert shown == f"{first} 2099-03-07 23:59 {BERLIN}"
