"""Deaths of each kind of process that only the schedule follows: one of 96 here, all of them by `make crash-sweep`.

Every sixth kind is in the long tests, the others in `make proof`.
"""

from __future__ import annotations

import pytest

from simulation.abandoned import PROCESSES, abandoned

pytestmark = pytest.mark.slow

EVERY = 96


@pytest.mark.parametrize(
    "name",
    [name if number % 6 == 0 else pytest.param(name, marks=pytest.mark.proof) for number, name in enumerate(PROCESSES)],
)
def test_the_schedule_follows_deaths_of_each_kind_of_process(world, name):
    tried, wrong = abandoned(world, [name], every=EVERY)
    assert tried
    assert wrong == [], f"{tried - len(wrong)} of {tried} deaths are followed up by the schedule"
