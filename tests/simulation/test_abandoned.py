"""Some deaths that only the schedule follows in every run of the suite, many more under `slow`; all of them: make crash-sweep."""

from __future__ import annotations

import pytest

from simulation.abandoned import PROCESSES, abandoned

EVERY = 9
FEW = ("approve",)


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
def test_the_schedule_follows_some_deaths(world, name):
    tried, wrong = abandoned(world, [name], every=1000)
    assert (tried, wrong) == (1, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", PROCESSES)
def test_the_schedule_follows_deaths_of_each_kind_of_process(world, name):
    tried, wrong = abandoned(world, [name], every=EVERY)
    assert tried
    assert wrong == [], f"{tried - len(wrong)} of {tried} deaths are followed up by the schedule"
