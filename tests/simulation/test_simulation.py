"""A handful of seeds and crash points in every run of the suite, many more under `slow`; and that the model sees what is wrong."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import random
import time
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from simulation import day
from simulation.broken import Broken
from simulation.crash_points import crash_sweep, dies_at, effects_of_a_day, points
from simulation.erp import VENDORS
from simulation.fault_point import Death, FaultPoint, Killed
from simulation.model import Model, converged
from simulation.plan import Action, Plan, plan
from simulation.seeds import SimulationRun, plan_of, try_plan, try_seed
from simulation.shape import KNOWN_SKUS, Shape
from simulation.shrink import shrunk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.world import World

BOX_S = 5.0
RESUMED = (3061, 3150)
"""Sending continues while the first of several bodies is in flight: these seeds fail if a given-up run leaves its job open."""
SMALL = Shape(job_seconds=1.0, skus=3)


@pytest.fixture
def synced(world) -> World:
    """A small world after its first full sync."""
    return _synced(world)


@pytest.fixture(scope="module")
def shared(world) -> World:
    """The same, made once for tests that stand next to each other: each leaves it good for the others."""
    return _synced(world)


def _synced(world: World) -> World:
    world.reset(0, SMALL)
    chance = random.Random(0)
    for vendor in VENDORS:
        for sku in KNOWN_SKUS[: SMALL.skus]:
            world.erp.put((vendor, sku), chance)
    world.erp.write()
    with world.app(FaultPoint()) as app:
        day.whole_run(world, app, "full", "first")
    return world


@pytest.mark.slow
def test_seeds_hold_as_many_as_fit_the_time(world):
    began_s, seed = time.monotonic(), 1000
    while seed == 1000 or time.monotonic() - began_s < BOX_S:
        verdict = try_seed(world, seed)
        assert verdict.broken is None, f"python -m simulation --start {seed} --seeds 1 --verbose: {verdict.case}"
        seed += 1


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize("seed", range(1001, 1006))
def test_more_seeds_hold(world, seed):
    verdict = try_seed(world, seed)
    assert verdict.broken is None, f"python -m simulation --start {seed} --seeds 1 --verbose: {verdict.case}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [RESUMED[0], pytest.param(RESUMED[1], marks=pytest.mark.proof)])
def test_seeds_that_once_failed_converge(world, seed):
    """By the plan that the seed had then."""
    verdict = try_plan(world, plan_of(world, seed, now=False))
    assert verdict.broken is None, verdict.case


@pytest.mark.slow
def test_some_crash_points_of_a_day_converge(world):
    every = points(effects_of_a_day(world))[60::120]  # all of them: make crash-sweep
    wrong = crash_sweep(every, partial(dies_at, world))
    assert wrong == [], f"{len(every) - len(wrong)} of {len(every)} crash points converge"


@pytest.mark.proof
@pytest.mark.slow
def test_a_seed_repeats_itself(world):
    """With two workers too, down to every line and the number of effects."""
    of = plan_of(world, 6)
    of = dataclasses.replace(of, actions=(*of.actions[:4], Action("together", 5, both=(_run(1), _run(2)))))
    lines: list[list[str]] = [[], []]
    simulation_runs = [SimulationRun(world, of, each.append) for each in lines]
    for simulation_run in simulation_runs:
        simulation_run.run(converge=False)
    assert lines[0] == lines[1] != []
    assert simulation_runs[0].effects == simulation_runs[1].effects > 0


def test_a_plan_comes_from_its_seed_alone():
    kinds = [
        {"kind": "drop_answer", "at": ["put_catalog", "log", "job_status", "token", "outlet_status", "list_catalog"]}
    ]
    kinds += [{"kind": "stuck", "at": ["job"]}, {"kind": "lost", "at": ["job_webhook"]}]
    assert plan(7, kinds) == plan(7, kinds) != plan(8, kinds)


def test_a_failing_plan_shrinks_to_the_actions_that_matter():
    actions = tuple(Action("time", seed, seconds=1) for seed in range(30))
    least = shrunk(
        Plan(1, Shape(), actions), "I4", lambda of: "I4" if {actions[4], actions[21]} <= set(of.actions) else "I1"
    )
    assert least.actions == (actions[4], actions[21])


@pytest.mark.slow
def test_the_day_converges_without_a_death(shared):
    Model(shared).check()
    assert converged(shared, may_be_rejected=False) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("invariant", "sabotage"),
    [
        ("I1", "DELETE FROM warehouse.sku_outcome WHERE sku = 's01'"),
        ("I1", "UPDATE warehouse.sku_outcome SET state = 'unaccounted' WHERE sku = 's01'"),
        ("I6", "DELETE FROM warehouse.baseline WHERE sku = 's01'"),
        ("I6", "UPDATE warehouse.catalog_job SET accepted = accepted + 1"),
        ("I6", "UPDATE warehouse.catalog_job SET state = 'failed'"),
        ("I2", "UPDATE warehouse.baseline SET price = 77 WHERE sku = 's01'"),
        ("I5", "UPDATE ledger.batch SET items_path = (SELECT min(items_path) FROM ledger.batch)"),
        ("I8", "DELETE FROM inbox.event WHERE event_id = 1"),
        ("I16", "UPDATE ledger.batch SET snapshot_path = (SELECT max(snapshot_path) FROM ledger.batch)"),
        ("I7", "UPDATE ledger.job SET state = 'superseded', accepted = NULL, rejected = NULL, unaccounted = NULL"),
    ],
)
def test_the_model_sees_a_ledger_that_lies(shared, invariant, sabotage):
    lies = [sabotage]
    if invariant == "I7":
        lies[:0] = [
            "DELETE FROM warehouse.sku_outcome",
            "DELETE FROM warehouse.baseline",
            "UPDATE ledger.vendor SET baseline_version = 0",
            "UPDATE ledger.vendor_run SET state = 'failed'",
        ]
    with _undone(shared, lies), pytest.raises(Broken) as broken:
        Model(shared).check()
    assert broken.value.invariant in {invariant, "I1"} if invariant == "I5" else broken.value.invariant == invariant


@pytest.mark.slow
@pytest.mark.parametrize("before", [True, False])
def test_death_before_a_commit_leaves_nothing_and_after_it_everything(shared, before):
    runs = len(shared.rows("SELECT 1 FROM ledger.run"))
    fault_point = FaultPoint(Death(1, before, "commit"))
    with pytest.raises(Killed), shared.app(fault_point) as app:
        app.open_run("delta", "dies")
    assert len(shared.rows("SELECT 1 FROM ledger.run")) - runs == (0 if before else 1)
    with pytest.raises(Killed):
        fault_point.alive()


@pytest.mark.proof
@pytest.mark.slow
def test_the_model_sees_an_older_value_on_the_platform(synced):
    key = (VENDORS[0], "s01")
    model = Model(synced)
    synced.erp.put(key, random.Random(1))
    synced.erp.wanted[key].reverse()
    with synced.app(FaultPoint()) as app:
        synced.erp.write()
        day.whole_run(synced, app, "delta", "second")
    with pytest.raises(Broken) as broken:
        model.check()
    assert broken.value.invariant == "I4"


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize(
    ("field", "column"), [("quantity", "quantity"), ("active", "active"), ("max_sales_quantity", "limit")]
)
def test_the_model_sees_an_older_value_of_any_field_on_its_way(synced, field, column):
    key = (VENDORS[0], "s01")
    model = Model(synced)
    row = synced.erp.rows[key]
    again = {"quantity": 41, "active": not row.active, "limit": 950}[column]
    changed = dataclasses.replace(row, **{column: again}, price=row.price + 5)
    synced.erp.rows[key] = changed
    synced.erp.wanted[key].append(changed.price)
    synced.erp.history[key][field].insert(0, again)
    if field == "active":
        synced.erp.history[key][field] = [again]
    synced.erp.write()
    with synced.app(FaultPoint()) as app:
        day.whole_run(synced, app, "delta", "second")
    with pytest.raises(Broken) as broken:
        model.check()
    assert (broken.value.invariant, field in str(broken.value)) == ("I4", True)


@pytest.mark.proof
@pytest.mark.slow
@pytest.mark.parametrize("price", ["1.2345", "-1", "NaN", "77"])
def test_the_model_detects_a_sent_price_that_the_erp_never_had(synced, price):
    Model(synced).check()
    synced.listed.bodies.append((VENDORS[0], f'{{"products":[{{"sku":"s01","price":{price}}}]}}'.encode()))
    with pytest.raises(Broken) as broken:
        Model(synced).check()
    assert broken.value.invariant == "I11"


@pytest.mark.proof
@pytest.mark.slow
def test_the_model_sees_a_job_that_waits_beyond_its_deadline(synced):
    model = Model(synced)
    model.no_job_is_overdue(synced.clock.now())
    with synced.observer.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.job SET state = 'open', deadline_at = '2026-01-01' WHERE job_id = 1")
        connection.exec_driver_sql("DELETE FROM ledger.lease")
    with pytest.raises(Broken) as broken:
        model.no_job_is_overdue(synced.clock.now())
    assert broken.value.invariant == "I15"


@pytest.mark.proof
@pytest.mark.slow
def test_the_model_sees_a_restored_value_that_the_platform_does_not_show(synced):
    key = (VENDORS[0], "s01")
    then = synced.clock.now()
    synced.clock.sleep(5)
    with synced.app(FaultPoint()) as app:
        span = dt.timedelta(days=1)
        app.restore(key[0], at=then, span=span, skus=["s01"], why="test", who="ada", dry_run=False)
        before = synced.erp.rows[key].price
        synced.erp.put(key, random.Random(1))
        synced.erp.write()
        model = Model(synced)
        model.check()
        day.whole_run(synced, app, "delta", "second")
        model.check()
    assert model.restorations.wanted(key)["price"] == before
    assert converged(synced, may_be_rejected=False, restored=model.restorations.wanted) == []
    assert [line.split(":")[0] for line in converged(synced, may_be_rejected=False)] == ["/".join(key)]


@pytest.mark.proof
@pytest.mark.slow
def test_the_model_detects_a_product_that_is_inactive_without_a_request(synced):
    synced.erp.ever_off.clear()
    shown = synced.platform.products(VENDORS[0])
    kept = [{name: value for name, value in row.items() if name != "app"} for row in shown.values()]
    synced.platform.put_products(VENDORS[0], [{**row, "active": False} for row in kept])
    with pytest.raises(Broken) as broken:
        Model(synced).check()
    assert broken.value.invariant == "I9"


@pytest.mark.proof
@pytest.mark.slow
def test_the_model_sees_a_platform_that_differs(synced):
    synced.erp.put((VENDORS[1], "s02"), random.Random(1))
    assert [line.split(":")[0] for line in converged(synced, may_be_rejected=False)] == [f"{VENDORS[1]}/s02"]


@contextlib.contextmanager
def _undone(world: World, statements: Sequence[str]) -> Iterator[None]:
    """What reads this world finds these statements executed; after the block they never were."""
    reading = world._reading
    with world.observer.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
        world._reading = SimpleNamespace(connect=lambda: contextlib.nullcontext(connection))
        try:
            yield
        finally:
            world._reading = reading
            connection.rollback()


def _run(seed: int) -> Action:
    return Action("run", seed, kind="delta")
