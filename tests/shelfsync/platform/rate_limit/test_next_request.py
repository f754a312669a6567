"""The order of waiting requests."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.platform.rate_limit.next_request import Waiting, order
from shelfsync.platform.rate_limit.priorities import PRIORITIES, due_after, gap

START = dt.datetime(2026, 3, 29, 0, 59, tzinfo=dt.UTC)
SPACING = dt.timedelta(seconds=1.02)
NAMES = [priority.name for priority in PRIORITIES]
FLOOR = {priority.name: priority.floor for priority in PRIORITIES}


def _serve(busy: list[str], slots: int, backlog: int = 3) -> Counter[str]:
    """Who got the slots when these priorities always have work."""
    number = iter(range(10**9))
    waiting = [Waiting(next(number), priority, START) for priority in busy for _ in range(backlog)]
    due: dict[str, dt.datetime] = {}
    served: Counter[str] = Counter()
    for n in range(slots):
        now = START + n * SPACING
        one = order(waiting, due, now, SPACING)[0]
        served[one.priority] += 1
        due[one.priority] = due_after(one.priority, now, due.get(one.priority), SPACING)
        waiting.remove(one)
        waiting.append(Waiting(next(number), one.priority, now))
    return served


@pytest.mark.slow
@pytest.mark.proof
@given(busy=st.lists(st.sampled_from(NAMES), unique=True, min_size=1), backlog=st.integers(1, 4))
def test_every_priority_with_work_gets_its_floor(busy, backlog):
    slots = 1000
    served = _serve(busy, slots, backlog)
    assert sum(served.values()) == slots
    for priority in busy:
        # with a single request in line it asks again only after its slot: one slot a turn is its own
        floor = slots / (1 / FLOOR[priority] + (1 if backlog == 1 else 0))
        assert served[priority] >= floor - 3, (priority, served)


@pytest.mark.slow
@pytest.mark.proof
@given(busy=st.lists(st.sampled_from(NAMES), unique=True, min_size=2))
def test_what_the_floors_leave_goes_to_the_dearest_priority(busy):
    served = _serve(busy, 1000)
    dearest = min(busy, key=NAMES.index)
    others = sum(FLOOR[priority] for priority in busy if priority != dearest)
    assert served[dearest] >= 1000 * (1 - others) - 10


@given(priorities=st.lists(st.sampled_from(NAMES), min_size=1, max_size=30))
def test_newcomers_stand_by_priority_and_then_by_age(priorities):
    waiting = [Waiting(n, priority, START) for n, priority in enumerate(priorities)]
    served = order(waiting, {}, START, SPACING)
    assert served == sorted(waiting, key=lambda one: (NAMES.index(one.priority), one.number))


@given(
    priorities=st.lists(st.sampled_from(NAMES), min_size=1, max_size=20),
    waited_s=st.lists(st.integers(0, 100), min_size=20, max_size=20),
    due_s=st.dictionaries(st.sampled_from(NAMES), st.integers(-100, 100)),
)
def test_every_waiting_caller_is_in_the_queue_exactly_once(priorities, waited_s, due_s):
    waiting = [Waiting(n, priority, START - dt.timedelta(seconds=waited_s[n])) for n, priority in enumerate(priorities)]
    due = {priority: START + dt.timedelta(seconds=s) for priority, s in due_s.items()}
    assert sorted(order(waiting, due, START, SPACING), key=lambda one: one.number) == waiting


def _serve_chains(backlogs: dict[str, int], slots: int) -> list[str]:
    """The chain of each slot when every chain always has so much work of one priority."""
    number = iter(range(10**9))
    waiting = [Waiting(next(number), "price", START, chain) for chain in backlogs for _ in range(backlogs[chain])]
    turns: dict[tuple[str, str], dt.datetime] = {}
    served = []
    for n in range(slots):
        now = START + n * SPACING
        one = order(waiting, {}, now, SPACING, turns)[0]
        served.append(one.chain)
        turns[one.priority, one.chain] = now
        waiting.remove(one)
        waiting.append(Waiting(next(number), "price", now, one.chain))
    return served


@given(backlogs=st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 30), min_size=1))
def test_no_chain_waits_for_more_than_one_slot_of_each_other(backlogs):
    chains = len(backlogs)
    served = _serve_chains(backlogs, 5 * chains)
    for begin in range(4 * chains + 1):
        assert set(served[begin : begin + chains]) == set(backlogs)


@given(chains=st.lists(st.sampled_from(["north", "south"]), min_size=1, max_size=20), turns=st.booleans())
def test_of_one_chain_the_oldest_request_goes_first(chains, turns):
    waiting = [Waiting(n, "price", START, chain) for n, chain in enumerate(chains)]
    served = order(waiting, {}, START, SPACING, {("price", "north"): START} if turns else {})
    for chain in set(chains):
        assert [one.number for one in served if one.chain == chain] == sorted(
            one.number for one in waiting if one.chain == chain
        )


def test_a_slot_of_another_priority_costs_a_chain_no_turn():
    """A chain with steady orders would never send a price while another chain has some."""
    waiting = [Waiting(1, "price", START, "north"), Waiting(2, "price", START, "south")]
    turns = {("order", "north"): START, ("price", "south"): START - SPACING}
    assert order(waiting, {}, START, SPACING, turns)[0].chain == "north"


def test_a_floor_counts_from_the_oldest_request_whichever_chain_has_its_turn():
    old = Waiting(1, "history", START - gap("history", SPACING), "north")
    young = Waiting(2, "history", START, "south")
    urgent = Waiting(3, "order", START, "north")
    served = order([urgent, young, old], {}, START, SPACING, {("history", "north"): START})
    assert served[:2] == [young, urgent]  # the floor is overdue, and it is the turn of the other chain


def test_a_stop_sell_overtakes_a_queue_of_catalog_work():
    waiting = [Waiting(n, "catalog", START) for n in range(50)] + [Waiting(50, "stop_sell", START)]
    assert order(waiting, {}, START, SPACING)[0].priority == "stop_sell"


def test_a_priority_that_was_idle_has_saved_nothing_up():
    """History slept for a day: its first request does not pass an order on the strength of it."""
    due = {"history": START - dt.timedelta(days=1)}
    waiting = [Waiting(1, "history", START), Waiting(2, "order", START)]
    assert order(waiting, due, START, SPACING)[0].priority == "order"


def test_a_priority_served_more_than_its_floor_owes_nothing_for_it():
    due = None
    for n in range(100):
        due = due_after("history", START + n * SPACING, due, SPACING)
    assert due <= START + 99 * SPACING + gap("history", SPACING)


def test_an_order_waits_for_a_few_slots_at_most_behind_overdue_floors():
    waiting = [Waiting(n, priority, START - dt.timedelta(hours=1)) for n, priority in enumerate(NAMES[1:])]
    waiting.append(Waiting(99, "order", START))
    place = [one.priority for one in order(waiting, {}, START, SPACING)].index("order")
    assert place <= len(NAMES) - 1
