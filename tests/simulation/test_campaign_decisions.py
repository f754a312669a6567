"""Decisions about held campaigns stand in the simulation, and its model sees one that does not."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from shelfsync.decisions.state import Place
from simulation.broken import Broken
from simulation.campaign_decisions import actions_of, approve_all
from simulation.fault_point import FaultPoint
from simulation.plan import Action, Plan
from simulation.seeds import SimulationRun
from simulation.shape import Shape

if TYPE_CHECKING:
    from simulation.world import World

SHAPE = Shape(job_seconds=1.0, campaigns_guarded=True)
HELD = (Action("tick", 1, kind="all"), Action("run", 2, kind="full"), Action("campaigns", 3, kind="slip"))
DECISIONS = "SELECT state, place, ignored IS NOT NULL AS ignored FROM ledger.decision ORDER BY decision_id"


def _run(seed: int) -> Action:
    return Action("promotions", seed, kind="run")


def _answer(seed: int, what: str) -> Action:
    assert "reopen" in what or random.Random(seed).random() >= 0.2, "this person looks at what is open"
    return Action("campaign_hold", seed, kind=what)


def _done(world: World, *actions: Action) -> SimulationRun:
    run = SimulationRun(world, Plan(1, SHAPE, (*HELD, _run(4), *actions)))
    run.run(converge=False)
    return run


def _slips_shown(world: World) -> int:
    shown = world.platform_rows("SELECT value_milli FROM promotion_sku WHERE seen_until_us IS NULL")
    return sum(row.value_milli < 100 for row in shown)


@pytest.mark.slow
@pytest.mark.parametrize("place", [Place.PAGE, Place.AIRFLOW])
def test_an_answer_to_what_a_hold_was_before_does_nothing(world, place):
    actions = (
        _answer(5, f"look on the {place}"),
        _answer(6, f"decline on the {Place.COMMAND}"),
        _run(7),
        _answer(8, "reopen"),
        _answer(9, "old approve"),
        _run(10),
    )
    run = _done(world, *actions)
    acts = [(row.state, row.place, row.ignored) for row in world.rows(DECISIONS)]
    assert acts == [
        ("declined", Place.COMMAND, False),
        ("open", Place.COMMAND, False),
        ("approved", place, True),
    ]
    assert _slips_shown(world) == 0
    with world.app(FaultPoint()) as app:
        assert approve_all(world, app) > 0
    run._do(_run(11))
    run._verify()
    assert _slips_shown(world) > 0


@pytest.mark.slow
def test_the_model_sees_a_declined_campaign_that_is_sent(world):
    run = _done(world, _answer(5, f"decline on the {Place.PAGE}"))
    world.execute("UPDATE ledger.hold SET state = 'approved' WHERE subject = 'promotions'")
    run._do(_run(6))
    with pytest.raises(Broken, match="has not approved it"):
        run.promotions.check()


@pytest.mark.slow
def test_the_model_sees_an_answer_that_decided_another_state_than_the_person_saw(world):
    looks = (_answer(5, f"look on the {Place.PAGE}"), _answer(6, f"decline on the {Place.PAGE}"))
    run = _done(world, *looks, _answer(8, "reopen"), _answer(9, "old approve"))
    world.execute("UPDATE ledger.decision SET ignored = NULL")
    with pytest.raises(Broken, match="decided it after 2 decisions"):
        run.model.check()


def test_many_seeds_decide_about_campaigns_in_every_place_and_by_old_answers():
    kinds = [action.kind for seed in range(60) for _, action in actions_of(seed, 20) if action.verb == "campaign_hold"]
    wanted = {"reopen", "old approve", "old decline"}
    wanted |= {
        f"{what} on the {place}" for what in ("look", "approve", "decline") for place in Place if place != "shelfsync"
    }
    assert set(kinds) == wanted
