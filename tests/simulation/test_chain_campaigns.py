"""A chain's campaigns with faults and deaths: the platform has every pair that the rules give, and the model sees one that differs."""

from __future__ import annotations

import pytest

from simulation.broken import Broken
from simulation.chain_campaigns import CampaignsRun, chain_campaigns
from simulation.plan import Action, Plan
from simulation.seeds import fault_kinds
from simulation.shape import Shape

pytestmark = pytest.mark.slow

SEED = 318
"""Few campaigns and short jobs, and yet four deaths and five changes of the faults; `make proof` has long ones too."""


def test_campaigns_with_faults_and_processes_that_die_converge_pair_by_pair(world):
    """A seed with both; more of them: `make simulate ARGS=--campaigns`."""
    run = CampaignsRun(world, chain_campaigns(SEED, fault_kinds(world)))
    run.run()
    assert run.pairs > 40
    assert run.deaths > 0
    assert sum(run.model.facts.struck.values()) > 0


def test_the_naive_model_sees_a_pair_that_differs(world):
    run = CampaignsRun(world, Plan(1, Shape(job_seconds=1.0), (Action("campaigns", 1, kind="begin"),)))
    run.run()
    key, pair = next(iter(run.naive.shown.items()))
    run.feed.rows = [row for row in run.feed.rows if (row.campaign, row.sku) != (key[0], key[2])]
    with pytest.raises(Broken) as broken:
        run.check_pairs()
    assert broken.value.invariant == "I3"
    assert pair.sku in str(broken.value)
