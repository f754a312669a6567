"""What a person reads of a held row; the rules themselves are tried by test_feed.py and steps/test_holds.py."""

from __future__ import annotations

import pytest

from shelfsync.promotions.guard import in_words

HOUR = "2026-03-02T04:00:00+00:00 2026-03-05T04:30:00+00:00"


@pytest.mark.parametrize(
    ("name", "held", "read"),
    [
        ("discount", "FINAL_PRICE 1.000", "1.00"),
        ("discount", "PERCENTAGE 20.000", "20 % off"),
        ("discount", "ABSOLUTE 1.500", "1.50 off"),
        ("discount", "end", "end"),
        ("window", HOUR, "2026-03-02 04:00 UTC to 2026-03-05 04:30 UTC"),
        ("window", f"{HOUR} 2+1", "2026-03-02 04:00 UTC to 2026-03-05 04:30 UTC, 2+1"),
    ],
)
def test_a_held_offer_is_read_without_the_platforms_words(name, held, read):
    assert in_words(name, held) == read
