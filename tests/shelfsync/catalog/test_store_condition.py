"""The condition of a store, from every kind of row that the status can have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.catalog.state import VendorState
from shelfsync.catalog.store_condition import BY_ITSELF, Condition, condition, fails, is_late, shows_the_erp, words

RIGHT = {
    "paused": None,
    "last_state": "acknowledged",
    "error": None,
    "consecutive_failures": 0,
    "at_work": False,
    "acknowledged_at": "2026-01-01",
    "oldest_unacknowledged_s": None,
    **dict.fromkeys(("pending", "in_flight", "unconfirmed", "held"), 0),
}
LATE_S = 1800


@pytest.mark.parametrize(
    ("but", "is_now"),
    [
        ({}, Condition.RIGHT),
        ({"held": 3}, Condition.HELD),
        ({"held": 3, "pending": 1, "oldest_unacknowledged_s": LATE_S + 1.0}, Condition.LATE),
        ({"pending": 1, "oldest_unacknowledged_s": LATE_S - 1.0}, Condition.AT_WORK),
        ({"in_flight": 1, "at_work": True, "last_state": "open"}, Condition.AT_WORK),
        ({"unconfirmed": 1}, Condition.AT_WORK),
        ({"acknowledged_at": None, "last_state": None}, Condition.AT_WORK),
        ({"last_state": None}, Condition.AT_WORK),  # a loaded baseline: no run of this database has read the store yet
        ({"last_state": "failed", "error": "no", "pending": 9, "oldest_unacknowledged_s": 1e9}, Condition.FAILING),
        ({"last_state": "busy", "error": "no", "consecutive_failures": 9}, Condition.FAILING),
        ({"last_state": "busy", "error": "no"}, Condition.RIGHT),
        ({"pending": None}, Condition.FAILING),
        ({"paused": "by ada", "last_state": "failed", "error": "no"}, Condition.PAUSED),
    ],
)
def test_the_condition_is_what_needs_a_person_most(but, is_now):
    assert condition(RIGHT | but, late_s=LATE_S) == is_now


numbers = st.one_of(st.none(), st.integers(0, 3))


@given(
    st.fixed_dictionaries(
        {
            "paused": st.sampled_from([None, "by ada"]),
            "last_state": st.sampled_from([None, *map(str, VendorState)]),
            "error": st.sampled_from([None, "no"]),
            "consecutive_failures": st.integers(0, 2),
            "at_work": st.booleans(),
            "acknowledged_at": st.sampled_from([None, "2026-01-01"]),
            "oldest_unacknowledged_s": st.one_of(st.none(), st.floats(0, 1e6)),
            **dict.fromkeys(("pending", "in_flight", "unconfirmed", "held"), numbers),
        }
    )
)
def test_a_right_store_shows_the_erp_and_what_is_wrong_says_what_happens(row):
    now = condition(row, late_s=LATE_S)
    assert words(row)
    if now == Condition.RIGHT:
        assert shows_the_erp(row)
        assert not any(row[name] for name in ("pending", "in_flight", "unconfirmed", "held"))
    if fails(row) or is_late(row, late_s=LATE_S) or row["held"]:
        assert BY_ITSELF[now]


def test_a_run_that_held_all_it_found_is_not_told_as_one_that_found_nothing():
    held = RIGHT | {"last_state": "unchanged", "held": 400}
    assert words(held) == "nothing but held changes at the last run"
    assert words(RIGHT | {"last_state": "unchanged"}) == "nothing new at the last run"
