"""What the simulation of many vendors promises, on one day of it; the whole week is slow."""

from __future__ import annotations

import random
from statistics import median

import pytest

from benchmarks.scarcity import OF_BOUND_MAX, Assumed, changes, wait_s_max, week

VENDORS = 200


@pytest.fixture(scope="module")
def day():
    return week(VENDORS, days=1)


def test_every_change_of_the_day_is_acknowledged_once_and_after_it_was_made(day):
    chance = random.Random(1)
    made = [change for _ in range(VENDORS) for change in changes(chance, 1, Assumed())]
    counts = {name: sum(priority == name for _, priority in made) for name in day.waits_s}
    late = 0  # changes of the last minutes, after the last run
    for name, waits_s in day.waits_s.items():
        late += counts[name] - len(waits_s)
        assert min(waits_s) > 0
    assert 0 <= late <= 20


def test_a_long_run_takes_little_more_than_its_requests_and_no_change_waits_longer_than_stated(day):
    found = day.figures()
    assert found["most_waiting"] == VENDORS
    assert 1.02 <= found["cycle_of_bound"] <= OF_BOUND_MAX
    assert found["worst_s"] <= wait_s_max(VENDORS)
    assert 0 < found["polls_share"] <= 0.05


@pytest.mark.slow
def test_while_requests_are_scarce_a_stop_sell_waits_less_than_a_refill():
    rare = Assumed(stop_sells=6, refills=60)
    found = week(VENDORS, days=1, assumed=rare)
    assert median(found.waits_s["stop_sell"]) < median(found.waits_s["catalog"])


def test_the_requests_never_exceed_the_limit(day):
    assert day.busy_s >= day.busy_requests * (60 + 1.2) / 60


@pytest.mark.slow
@pytest.mark.parametrize(
    "vendors", [50, pytest.param(300, marks=pytest.mark.proof), pytest.param(1_000, marks=pytest.mark.proof)]
)
def test_a_week_of_a_chain_keeps_the_stated_bounds(vendors):
    found = week(vendors).figures()
    assert found["worst_s"] <= found["worst_bound_s"]
    assert found["polls_share"] <= 0.05
    if vendors > 50:
        assert found["cycle_of_bound"] <= OF_BOUND_MAX
