"""Orders under all webhook faults, lost answers, lagging replicas and dying processes, on the virtual clock."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest

from simulation.orders import OrdersRun

pytestmark = pytest.mark.slow


def play(world, seed, actions=40):
    with tempfile.TemporaryDirectory(prefix="store-") as folder:
        return OrdersRun(world, Path(folder), seed).run(actions)


def test_no_order_is_lost_handed_over_in_a_wrong_state_or_cancelled_by_us(world):
    verdicts = [play(world, seed) for seed in range(3)]
    assert sum(one.orders for one in verdicts) > 10
    assert sum(one.results for one in verdicts) > 5


@pytest.mark.proof
def test_many_seeds_of_orders(world):
    ends: Counter[str] = Counter()
    deaths = orders = illegal = 0
    for seed in range(100, 110):
        verdict = play(world, seed)
        ends += verdict.ends
        deaths, orders, illegal = deaths + verdict.deaths, orders + verdict.orders, illegal + verdict.illegal
    print(f"{orders} orders, {illegal} illegal results, {deaths} deaths, {dict(ends)}")
    assert min(deaths, illegal, ends["CANCELLED"], ends["DISPATCHED"], ends["READY_FOR_PICKUP"]) > 8
