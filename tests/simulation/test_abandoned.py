"""Deaths of each kind of process that only the schedule follows: one of 24 here, all of them by `make crash-sweep`."""

from __future__ import annotations

import pytest

from simulation.abandoned import PROCESSES, abandoned

EVERY = 24


@pytest.mark.slow
@pytest.mark.parametrize("name", PROCESSES)
def test_the_schedule_follows_deaths_of_each_kind_of_process(world, name):
    tried, wrong = abandoned(world, [name], every=EVERY)
    assert tried
    assert wrong == [], f"{tried - len(wrong)} of {tried} deaths are followed up by the schedule"
