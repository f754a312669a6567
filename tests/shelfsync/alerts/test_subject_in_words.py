"""What an alert is about is called by a word of people: a rule, a store, a condition."""

from __future__ import annotations

import pytest

from shelfsync.alerts.subject_in_words import subject_in_words


@pytest.mark.parametrize(
    ("kind", "subject", "words"),
    [
        ("hold_waits", "catalog price_change", "price change"),
        ("hold_expires", "promotions offer_below_cost", "promotions, offer below cost"),
        ("paused", "vendor store-001", "store store-001"),
        ("paused", "chain north", "chain north"),
        ("paused", "", ""),
        ("not_watched", "disk", "a disk is nearly full"),
        ("not_watched", "of_a_later_version", "of_a_later_version"),
        ("store_late", "store_001", "store_001"),
    ],
)
def test_a_subject_is_called_as_a_person_calls_it(kind, subject, words):
    assert subject_in_words(kind, subject) == words
