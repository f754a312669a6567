"""The order of sending: stop-sells first, the oldest of each priority first, and no vendor waits for ever."""

from __future__ import annotations

import datetime as dt

from hypothesis import example, given
from hypothesis import strategies as st

from shelfsync.catalog.state import PRIORITIES
from shelfsync.catalog.whose_turn import OLDEST_EVERY, Turn, in_order

NOW = dt.datetime(2026, 11, 25, 12, tzinfo=dt.UTC)


def turn(vendor, priority, minutes):
    return Turn(vendor, priority, None if minutes is None else NOW - dt.timedelta(minutes=minutes))


age = st.none() | st.integers(0, 60)
turns = st.lists(
    st.builds(turn, st.sampled_from([f"store-{n}" for n in range(20)]), st.sampled_from(PRIORITIES), age),
    unique_by=lambda one: one[:2],
    max_size=40,
)


def since(one):
    return one.wanted_at or dt.datetime.min.replace(tzinfo=dt.UTC)


@given(turns)
def test_each_turn_comes_once_in_whatever_order_they_are_given(waiting):
    found = in_order(waiting)
    assert sorted(found, key=str) == sorted(waiting, key=str)
    assert found == in_order(waiting[::-1])


@given(turns)
def test_four_turns_of_five_go_to_the_most_urgent_and_the_oldest_of_them(waiting):
    found = in_order(waiting)
    urgent = [one for place, one in enumerate(found, 1) if place % OLDEST_EVERY]
    assert urgent == sorted(urgent, key=lambda one: (PRIORITIES.index(one.priority), since(one), one.vendor))


@given(turns)
@example([*(turn(f"store-{n}", "stop_sell", n) for n in range(9)), turn("store-9", "catalog", 60)])
def test_a_turn_comes_within_five_times_the_number_of_the_older_ones(waiting):
    for place, one in enumerate(in_order(waiting), 1):
        older = sum(since(other) <= since(one) for other in waiting)
        assert place <= OLDEST_EVERY * older


@given(st.integers(1, 60), st.integers(OLDEST_EVERY, 20), st.randoms(use_true_random=False))
def test_under_stop_sells_without_end_every_vendor_has_its_turn_within_five_cycles(vendors, turns_a_run, chance):
    """Runs that each send a part of what waits. All vendors have a stop-sell all the time, but one, whose shelf was filled again."""
    wanted = {f"store-{n:03}": chance.randint(0, 9) for n in range(vendors)}
    patient = chance.choice(sorted(wanted))
    sent, clock = 0, 10
    while True:
        waiting = [turn(name, "catalog" if name == patient else "stop_sell", -at) for name, at in wanted.items()]
        for one in in_order(waiting)[:turns_a_run]:
            sent, clock = sent + 1, clock + 1
            assert sent <= OLDEST_EVERY * (vendors + turns_a_run)
            if one.vendor == patient:
                return
            wanted[one.vendor] = clock
