"""After the last fault of a feed of changes and the next whole reading, platform and ERP are equal."""

from __future__ import annotations

from collections import Counter

import pytest

from simulation.feed import FAULTS, FeedRun


@pytest.mark.slow
def test_a_feed_with_faults_and_processes_that_die_converge(world):
    runs = [FeedRun(world, seed).run() for seed in range(6)]
    assert sum(run.deaths for run in runs) > 2
    assert sum(run.missed for run in runs) > 5
    assert set(sum((run.struck for run in runs), Counter())) == set(FAULTS)
