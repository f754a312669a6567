"""What a person reads is in the chain's zone and currency; what a script reads is in UTC and bare."""

from __future__ import annotations

import datetime as dt
import re
from zoneinfo import ZoneInfo

import pytest

from documents import data


@pytest.fixture
def chain(here, monkeypatch):
    """A chain in Kathmandu that has prices in dinars: the zone has minutes, and the currency three digits."""
    monkeypatch.setenv("SHELFSYNC_TIME_ZONE", "Asia/Kathmandu")
    monkeypatch.setenv("SHELFSYNC_CURRENCY", "KWD")
    assert here("sync", "--full")[0] == 0
    return here


@pytest.mark.slow
def test_a_person_reads_the_chains_time_and_currency_and_a_script_utc_and_numbers(chain):
    code, out, _ = chain("explain", "store-001", "a")
    assert code == 0
    assert "1.234 KWD" in out
    assert re.search(r"The ERP has .* \(read at \d\d:\d\d:\d\d \+0545 by run 1\)", " ".join(out.split()))
    assert "UTC" not in out

    local = dt.datetime.now(ZoneInfo("Asia/Kathmandu"))
    assert local.strftime("%Y-%m-%d %H") in chain("runs", "list")[1] or local.minute == 0
    for words in (("explain", "store-001", "a"), ("status",), ("runs", "list")):
        document = chain(*words, "--json")[1]
        assert "+05" not in document
        assert "KWD" not in document
    events = data(chain("explain", "store-001", "a", "--json")[1])["events"]
    assert all(dt.datetime.fromisoformat(event["at"]).utcoffset() == dt.timedelta(0) for event in events)


@pytest.mark.slow
def test_a_time_that_was_shown_can_be_written_back(chain):
    now = dt.datetime.now(ZoneInfo("Asia/Kathmandu")) + dt.timedelta(minutes=1)
    known = chain("explain", "store-001", "a", "--at", f"{now:%Y-%m-%dT%H:%M}")[1]
    assert "No extract had this vendor by then" not in known
    hours_ago = f"{now - dt.timedelta(hours=2):%Y-%m-%dT%H:%M}"  # in UTC it would be in the future
    assert "No extract had this vendor by then" in chain("explain", "store-001", "a", "--at", hours_ago)[1]
    code, _, errors = chain("explain", "store-001", "a", "--at", "soon")
    assert code == 2
    assert "(Asia/Kathmandu)" in errors
