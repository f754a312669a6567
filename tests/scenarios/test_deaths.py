"""An export run that dies at any effect and is resumed leaves the same rows as one without a death."""

from __future__ import annotations

import random

import pytest

from scenarios.day import Day, ScenarioWorld, Size
from simulation.fault_point import Death, FaultPoint, Killed

pytestmark = pytest.mark.slow

TINY = Size(vendors=3, skus=12, deltas=5, changing_vendors=1, changes=1)
LEFT_BEHIND = (
    "SELECT vendor, sku, field, cause, action, desired, acknowledged, observed FROM warehouse.drift ORDER BY 1, 2, 3",
    "SELECT vendor, sku, barcode, price, active, max_sales_quantity, valid_to IS NULL FROM warehouse.assortment_history ORDER BY 1, 2",
    "SELECT vendor, sku, in_erp, on_platform, active_wanted, active_shown FROM warehouse.product ORDER BY 1, 2",
    "SELECT vendor, sku, price, quantity, active, max_sales_quantity FROM warehouse.baseline ORDER BY 1, 2",
    "SELECT vendor, sku, field, count(*) FROM ledger.resending GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
    "SELECT e.vendor, state, drifts, resent, confirmed FROM ledger.export AS e JOIN ledger.job USING (export_id) ORDER BY 1",
    "SELECT vendor, rows, rows_new, rows_changed, rows_gone, in_history FROM warehouse.observation ORDER BY 1",
    "SELECT vendor, count(*) FROM ledger.observation GROUP BY 1 ORDER BY 1",
)
STEPS = ("export", "observe", "reconcile")


@pytest.fixture(scope="module")
def exported_world(postgres, migrated_template, tmp_path_factory):
    """A day up to its export; every export begins with the database as it was then, on the same platform and lake."""
    url = postgres.create_database("scenario_deaths", template=migrated_template)
    with ScenarioWorld(url, tmp_path_factory.mktemp("scenario")) as world:
        world.open()
        day = Day(world, TINY, random.Random(3))
        day.live(export=False)
        world.keep()
        yield world
    postgres.drop_database("scenario_deaths")


def _exported(world, death=None):
    """(what is left behind, its effects, whether it died) of an export run that is taken up again after its death."""
    fault_point = FaultPoint(death)
    left, died = list(STEPS), False
    try:
        _steps(world, fault_point, left)
    except Killed:
        died = True
        _steps(world, FaultPoint(), left)
    found = [world.rows(statement) for statement in LEFT_BEHIND]
    world.back()
    return found, fault_point.trail, died


def _steps(world, fault_point, left):
    with world.app(fault_point) as app:
        names = [name for shard in app.plan_exports("deaths") for name in shard["vendors"]]
        while left:
            if left[0] == "observe":
                world.clock.sleep(30)
            app.export_step(left[0], "deaths", names)
            left.pop(0)
        app.report_exports("deaths")


def _deaths(trail):
    """Before each effect; and after each request, for its answer may be lost. After any other is before the next."""
    for nth, what in enumerate(trail, start=1):
        yield Death(nth, before=True)
        if what.startswith("request"):
            yield Death(nth, before=False)


@pytest.mark.proof
def test_a_death_at_any_fault_point_leaves_the_state_of_a_whole_run(exported_world):
    whole, trail, _ = _exported(exported_world)
    assert len(trail) > 20
    assert all(whole)
    for death in _deaths(trail):
        found, _, died = _exported(exported_world, death)
        assert died
        assert found == whole, str(death)
