"""Deaths of each kind of process that only the schedule follows: one of a few kinds here, all of each kind by `make crash-sweep`."""

from __future__ import annotations

import pytest

from simulation.abandoned import PROCESSES, abandoned, dies_at
from simulation.crash_points import Point

pytestmark = pytest.mark.slow

EVERY = 96
POINTS = {
    "full": Point(60, before=True),
    "promotions-recover": Point(1, before=False),
    "resume": Point(1, before=False),
}
"""Kind of process -> where it dies, with something done and something left."""


@pytest.mark.parametrize(("name", "point"), POINTS.items(), ids=POINTS)
def test_the_schedule_follows_a_death_of_a_process(world, name, point):
    dies_at(world, PROCESSES[name], point)


@pytest.mark.proof
@pytest.mark.parametrize("name", PROCESSES)
def test_the_schedule_follows_deaths_of_each_kind_of_process(world, name):
    tried, wrong = abandoned(world, [name], every=EVERY)
    assert tried
    assert wrong == [], f"{tried - len(wrong)} of {tried} deaths are followed up by the schedule"
