"""Slots: never more than the limit in any window when they arrive, and hardly less."""

from __future__ import annotations

import datetime as dt
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfsync.platform.rate_limit.sliding_window import ARRIVAL_S_MAX, Rate, clock_was_set, next_slot

START = dt.datetime(2026, 3, 29, 0, 59, tzinfo=dt.UTC)
rates = st.builds(
    Rate,
    limit=st.integers(1, 200),
    window_s=st.sampled_from([1.0, 7.5, 60.0]),
    jitter_s=st.sampled_from([0.1, 0.5, 1.2, 3.0]),
)


def _slots(rate: Rate, pauses_s: list[float], answered_s: list[float] | None = None) -> list[dt.datetime]:
    """Slots of those who ask again so long after each slot (0: work always waits), answered so long after it."""
    now, free_at, slots, answers = START, None, [], []
    for n, pause_s in enumerate(pauses_s):
        latest = sorted(
            answer if answer <= now else slot + dt.timedelta(seconds=ARRIVAL_S_MAX)
            for slot, answer in zip(slots, answers, strict=True)
        )
        nth = latest[-rate.limit] if len(latest) >= rate.limit else None
        slot = next_slot(rate, now, free_at=free_at, paused_until=None, nth_arrival=nth)
        slots.append(slot)
        answers.append(slot + dt.timedelta(seconds=answered_s[n] if answered_s else 0))
        free_at = slot + rate.spacing
        now = max(now, slot - dt.timedelta(seconds=0.5)) + dt.timedelta(seconds=pause_s)
    return slots


def most_in_a_window(arrivals: list[dt.datetime], window_s: float) -> int:
    ordered = sorted(arrivals)
    most, start = 0, 0
    for end, arrival in enumerate(ordered):
        while arrival - ordered[start] >= dt.timedelta(seconds=window_s):
            start += 1
        most = max(most, end - start + 1)
    return most


@pytest.mark.slow
@given(rate=rates, seed=st.randoms(use_true_random=False), count=st.integers(1, 250), busy=st.floats(0, 1))
def test_no_window_holds_more_than_the_limit_however_late_each_request_arrives(rate, seed, count, busy):
    pauses_s = [0.0 if seed.random() < busy else seed.uniform(0, 2 * rate.window_s / rate.limit) for _ in range(count)]
    slots = _slots(rate, pauses_s)
    late_us = int(rate.jitter_s * 1_000_000) - 1
    arrivals = [slot + dt.timedelta(microseconds=seed.choice([0, late_us, seed.randint(0, late_us)])) for slot in slots]
    assert most_in_a_window(arrivals, rate.window_s) <= rate.limit


@pytest.mark.slow
@given(
    rate=rates,
    seed=st.randoms(use_true_random=False),
    count=st.integers(1, 300),
    slow=st.floats(0, 1),
    slowest_s=st.floats(0, ARRIVAL_S_MAX - 1),
)
def test_no_window_holds_more_than_the_limit_whenever_a_request_arrives_before_its_answer(
    rate, seed, count, slow, slowest_s
):
    """Far more than jitter: a delay of half a minute, for any share of the requests."""
    answered_s = [seed.uniform(0, slowest_s) if seed.random() < slow else 0.0 for _ in range(count)]
    slots = _slots(rate, [0.0] * count, answered_s)
    arrivals = [
        slot + dt.timedelta(seconds=seed.choice([0.0, 1.0, seed.random()]) * late_s)
        for slot, late_s in zip(slots, answered_s, strict=True)
    ]
    assert most_in_a_window(arrivals, rate.window_s) <= rate.limit


@given(rate=rates)
def test_work_that_waits_uses_all_but_the_share_of_the_jitter(rate):
    slots = _slots(rate, [0.0] * (rate.limit + 1))
    took_s = (slots[-1] - slots[0]).total_seconds()
    assert took_s == pytest.approx(rate.window_s + rate.jitter_s, abs=rate.limit * 1e-6)


def test_a_lowered_limit_holds_from_its_first_slot():
    """Fifty requests of a faster installation are in the window; one that is allowed ten waits till nine of them are left."""
    arrived = [START + n * dt.timedelta(seconds=1) for n in range(50)]
    slot = next_slot(Rate(10), arrived[-1], free_at=None, paused_until=None, nth_arrival=arrived[-10])
    assert slot == arrived[-10] + dt.timedelta(seconds=60)
    assert sum(slot - one < dt.timedelta(seconds=60) for one in arrived) == 9


def test_nothing_leaves_during_a_pause():
    until = START + dt.timedelta(minutes=10)
    assert next_slot(Rate(60), START, free_at=START, paused_until=until, nth_arrival=None) == until


@pytest.mark.parametrize(
    ("elapsed_s", "monotonic_s", "was_set"),
    [(10, 10, False), (10.4, 10, False), (3601, 3600, False), (11, 10, True), (3610, 10, True), (-3590, 10, True)],
)
def test_a_clock_that_was_set_is_distinguished_from_one_that_drifts(elapsed_s, monotonic_s, was_set):
    assert clock_was_set(dt.timedelta(seconds=elapsed_s), least_s=monotonic_s, most_s=monotonic_s) is was_set


@given(
    st.lists(st.tuples(st.floats(0, 90), st.floats(0, 1), st.floats(0, 70)), min_size=2, max_size=6),
    st.floats(-0.0005, 0.0005),
)
def test_however_slow_a_round_trip_or_the_process_is_it_is_no_setting_of_the_clock(trips, slewed):
    """Each look: how long its round trip took, at which part of it the clock was read, and the pause before the next."""
    readings, now_s = [], 1000.0
    for trip_s, part, pause_s in trips:
        read_s = now_s + trip_s * part
        readings.append((now_s, START + dt.timedelta(seconds=read_s * (1 + slewed)), now_s + trip_s))
        now_s += trip_s + pause_s
    for (before_s, first, after_s), (next_before_s, second, next_after_s) in itertools.pairwise(readings):
        least_s, most_s = next_before_s - after_s, next_after_s - before_s
        assert not clock_was_set(second - first, least_s=least_s, most_s=most_s)
        for jump_s in (most_s + 2, -most_s - 2):
            assert clock_was_set(second - first + dt.timedelta(seconds=jump_s), least_s=least_s, most_s=most_s)
