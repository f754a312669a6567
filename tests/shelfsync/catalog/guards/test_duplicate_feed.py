"""An old extract that comes again."""

from __future__ import annotations

from guard_cases import BEFORE, reasons, split, store
from shelfsync.catalog.guards.case import History


def test_yesterdays_file_again_is_held_whole():
    now = BEFORE | store(range(60), price="1.90") | store(range(100, 130), quantity=0)
    again = History(repeats="2026-01-01 03:07:00 UTC")
    verdict = split(now, BEFORE, history=again)
    assert reasons(verdict) == {"duplicate_feed": 90}
    assert "2026-01-01 03:07:00 UTC" in verdict.held_changes[0].message
    assert reasons(split(BEFORE | store(range(20), price="1.90"), BEFORE, history=again)) == {}, "few rows may go back"
    ended = History(repeats="2026-01-01 03:07:00 UTC", undone=frozenset(f"S{number:04d}" for number in range(100, 130)))
    assert reasons(split(now, BEFORE, history=ended)) == {"duplicate_feed": 60}, "the end of what was approved is news"
