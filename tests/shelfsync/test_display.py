"""Times and prices as people read them: in the chain's zone and currency."""

import datetime as dt
import re
from decimal import Decimal

import pytest

from shelfsync import display
from shelfsync.display import Display
from shelfsync.errors import ConfigurationError
from shelfsync.settings import read_settings

BERLIN = Display.of("Europe/Berlin", "EUR")
NOON = dt.datetime(2026, 3, 1, 12, 0, 5, tzinfo=dt.UTC)


def test_without_a_setting_times_are_in_utc_and_prices_are_bare():
    assert display.instant(NOON) == "2026-03-01 12:00:05 UTC"
    assert display.price(Decimal("4.900")) == "4.90"
    assert display.price(Decimal("4.995")) == "4.995"


def test_the_same_instant_in_each_zone_is_named_with_its_abbreviation_or_offset():
    for name, text in {
        "Europe/Berlin": "2026-03-01 13:00:05 CET",
        "America/New_York": "2026-03-01 07:00:05 EST",
        "Asia/Dubai": "2026-03-01 16:00:05 +04",
        "Asia/Kathmandu": "2026-03-01 17:45:05 +0545",
    }.items():
        with display.used(Display.of(name, None)):
            assert display.instant(NOON) == text
    assert display.instant(NOON).endswith("UTC"), "what was used before is used again"


def test_a_time_has_its_date_if_the_day_differs_in_the_zone():
    late = dt.datetime(2026, 3, 1, 23, 30, tzinfo=dt.UTC)
    assert display.time(late, NOON) == "23:30:00 UTC"
    with display.used(BERLIN):
        assert display.time(late, NOON) == "2026-03-02 00:30:00 CET"
        assert display.day(late) == "2026-03-02"


def test_both_ends_of_a_span_are_named_if_the_clock_changes_between():
    summer = dt.datetime(2026, 7, 1, 12, tzinfo=dt.UTC)
    with display.used(BERLIN):
        assert display.span(NOON, NOON) == "2026-03-01 13:00 to 2026-03-01 13:00 CET"
        assert display.span(NOON, summer) == "2026-03-01 13:00 CET to 2026-07-01 14:00 CEST"
        never = dt.datetime.max.replace(tzinfo=dt.UTC)
        assert display.span(NOON, never) == "2026-03-01 12:00 to 9999-12-31 23:59 UTC"


@pytest.mark.parametrize(
    ("currency", "amount", "text"),
    [
        ("EUR", "4.9", "4.90 EUR"),
        ("EUR", "4.995", "4.995 EUR"),
        ("EUR", "0", "0.00 EUR"),
        ("EUR", "1E+3", "1000.00 EUR"),
        ("JPY", "490.000", "490 JPY"),
        ("JPY", "490.5", "490.5 JPY"),
        ("KWD", "4.25", "4.250 KWD"),
        (None, "490", "490.00"),
    ],
)
def test_a_price_has_the_digits_of_its_currency_and_loses_none(currency, amount, text):
    with display.used(Display(currency=currency)):
        assert display.price(Decimal(amount)) == text
        assert Decimal(text.split()[0]) == Decimal(amount)


def test_a_sum_is_rounded_to_the_digits_of_the_currency():
    with display.used(Display(currency="JPY")):
        assert display.total(Decimal("1234567.500")) == "1,234,568 JPY"
    assert display.total(Decimal("1234.567")) == "1,234.57"


def test_a_percentage_is_no_price():
    with display.used(BERLIN):
        assert display.discount("PERCENTAGE", Decimal("20.000")) == "20 % off"
        assert display.discount("ABSOLUTE", Decimal("1.5")) == "1.50 EUR off"
        assert display.discount("FINAL_PRICE", Decimal("1.5")) == "1.50 EUR"


def test_what_a_command_uses_ends_with_it():
    with display.scope():
        display.use(BERLIN)
        assert display.instant(NOON).endswith("CET")
    assert display.instant(NOON).endswith("UTC")


def test_a_script_gets_utc_and_bare_prices_whatever_the_settings():
    with display.for_scripts(), display.used(BERLIN):
        assert display.instant(NOON) == "2026-03-01 12:00:05 UTC"
        assert display.price(Decimal("4.9")) == "4.90"


def test_a_time_that_a_person_writes_is_of_the_zone_unless_it_has_an_offset():
    assert display.read_instant("2026-03-01T13:00:05", "Europe/Berlin") == NOON
    assert display.read_instant("2026-03-01T13:00:05+01:00", "Asia/Tokyo") == NOON
    for text in ("yesterday", "0001-01-01", "9999-12-31T23:59"):
        with pytest.raises(ValueError, match="is no instant"):
            display.read_instant(text, "Asia/Tokyo" if text.startswith("0") else "America/New_York")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("TIME_ZONE", "Berlin", "'Berlin' is no time zone; write a name like Europe/Berlin"),
        ("TIME_ZONE", "", "is no time zone"),
        ("TIME_ZONE", "../etc/passwd", "is no time zone"),
        ("TIME_ZONE", "Europe", "is no time zone"),
        ("CURRENCY", "eur", "is no code of a currency; write three capitals like EUR"),
        ("CURRENCY", "€", "is no code of a currency"),
        ("CURRENCY", "", "is no code of a currency"),
    ],
)
def test_a_wrong_setting_is_named_with_the_way_out(monkeypatch, name, value, message):
    monkeypatch.setenv(f"SHELFSYNC_{name}", value)
    with pytest.raises(ConfigurationError, match=f"SHELFSYNC_{name}.*{re.escape(message)}"):
        read_settings()
