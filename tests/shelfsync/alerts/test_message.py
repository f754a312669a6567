"""One text for all that is due: an alert that got worse before a digest is in it once, with its newest sentence."""

from __future__ import annotations

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from shelfsync.alerts.message import Due, body, ranges, title
from shelfsync.cli.alerts import read_range

OPENED = dt.datetime(2026, 6, 1, 7, tzinfo=dt.UTC)


def due(number: int, alert: int, message: str, act: str = "opened") -> Due:
    return Due(number, alert, act, "rejected", "", message, OPENED, OPENED if act == "closed" else None)


def test_an_alert_that_got_worse_is_in_a_digest_once():
    worse = [due(1, 17, "3 SKUs"), due(2, 17, "9 SKUs")]
    assert title(worse) == "shelfsync: notice: the platform rejects products"
    text = body(worse, link=None)
    assert ("9 SKUs" in text, "3 SKUs" in text, "times" in text) == (True, False, False)
    assert "acknowledge 17\n" in text + "\n"


def test_two_alerts_and_an_end_are_three():
    text = body([due(1, 17, "3 SKUs"), due(2, 18, "9 SKUs"), due(3, 16, "1 SKU", "closed")], link=None)
    assert "2 times" in text
    assert "acknowledge 17 18" in text
    assert "Over:" in text


def test_the_command_of_a_message_takes_on_all_that_it_is_about():
    many = [due(number, number, f"{number} SKUs") for number in (*range(3, 20), 25, 26, 30)]
    assert "acknowledge 3-19 25 26 30\n" in body([*many, due(99, 40, "1 SKU", "closed")], link=None)


@given(st.sets(st.integers(1, 60)))
def test_law_ranges_name_each_number_once(numbers):
    assert sorted(number for text in ranges(numbers).split() for number in read_range(text)) == sorted(numbers)


def test_a_message_of_one_chain_of_several_names_it_in_title_link_and_command():
    one = [due(1, 17, "3 SKUs")]
    assert title(one, "north") == "shelfsync north: notice: the platform rejects products"
    text = body(one, link="https://airflow.example/shelfsync/pages/", chain="north")
    assert "Page: https://airflow.example/shelfsync/pages/north/alerts" in text
    assert "shelfsync --chain north alerts acknowledge 17" in text
