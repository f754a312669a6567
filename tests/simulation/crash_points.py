"""The crash-point sweep: a day runs until its Nth effect and dies there. The schedule recovers it; it must converge.

Before effect N + 1 the world is exactly as after effect N, so dying before each effect and after the last is dying everywhere; a
request has a third place, on the way back: it was done and its answer was never read, which is after the request.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulation import day, operator_actions
from simulation.broken import Broken
from simulation.erp import VENDORS
from simulation.fault_point import Death, FaultPoint, Killed
from simulation.model import Model, converged
from simulation.shape import KNOWN_SKUS, UNKNOWN_SKUS, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from app_calls import Calls
    from simulation.world import World

SHAPE = Shape(job_seconds=5.0, skus=4, body_max_bytes=230)
"""Small, and several requests a vendor."""
REPORTED_EVERY = 25


@dataclass(frozen=True)
class Point:
    """Where the day dies."""

    nth: int
    before: bool

    def __str__(self) -> str:
        return f"{'before' if self.before else 'after'} effect {self.nth}"


def furnish(world: World, shape: Shape) -> None:
    """An empty world of this shape, and an ERP that has something for each vendor."""
    world.reset(1, shape)
    chance = random.Random(1)
    for vendor in VENDORS:
        for sku in (*KNOWN_SKUS[: shape.skus], UNKNOWN_SKUS[0]):
            world.erp.put((vendor, sku), chance)
    world.erp.write()


def change(world: World) -> None:
    """New prices, a stop-sell, a SKU that leaves, an unknown one, an invalid one."""
    chance = random.Random(2)
    first, second = VENDORS
    world.erp.put((first, KNOWN_SKUS[0]), chance)
    world.erp.put((first, KNOWN_SKUS[1]), chance)
    world.erp.remove((first, KNOWN_SKUS[2]))
    world.erp.put((second, KNOWN_SKUS[1]), chance, bad=("price", "NaN"))
    world.erp.put((second, KNOWN_SKUS[3]), chance)
    world.erp.write()


class Day:
    """Morning: a full sync. Then the ERP changes, a delta sync, an export, and recovery. What is done of it is remembered, as a scheduler does."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._model = Model(world)
        furnish(world, SHAPE)
        self._going: day.Going | None = None
        self._left = [("full", False), ("delta", True), ("export", False)]

    def live(self, fault_point: FaultPoint) -> None:
        """The day from where it is to its end, or to the death at the fault point."""
        with self._world.app(fault_point) as app:
            while self._left:
                kind, changes = self._left[0]
                if changes and self._going is None:
                    change(self._world)
                if kind == "export":
                    operator_actions.export(self._world, app, "day/export", (), operator_actions.STEPS)
                else:
                    self._run(app, kind)
                self._left.pop(0)
                self._going = None
            app.recover()

    def check(self) -> None:
        """What holds at any time, also between death and recovery."""
        self._model.check()

    def end(self) -> None:
        """What must be at the day's end, when the schedule has had its time."""
        with self._world.app(FaultPoint()) as app:
            day.quiescent_rounds(self._world, app, 2)
            day.recover_until_quiescent(self._world, app)
        self._model.check()
        lines = converged(self._world, may_be_rejected=False)
        if lines:
            raise Broken("I3", f"{len(lines)} differences, the first {lines[0]}")
        left = self._world.rows(
            "SELECT 1 FROM ledger.job WHERE kind = 'catalog' AND state IN ('submitting', 'open', 'confirmed')"
        )
        left += self._world.rows("SELECT 1 FROM ledger.batch WHERE state = 'planned'")
        if left:
            raise Broken("I15", "something is still open")

    def _run(self, app: Calls, kind: str) -> None:
        """A run step by step; a step that died is the same step again, in another process."""
        if self._going is None:
            self._going = day.begin(app, kind, f"day/{kind}")
        while self._going.left:
            word, vendors = self._going.left[0]
            day.take(app, word, self._going.run_id, vendors)
            self._going.left.pop(0)
        app.report(self._going.run_id)


def effects_of_a_day(world: World) -> int:
    """How many effects a day without a death has."""
    fault_point = FaultPoint()
    today = Day(world)
    today.live(fault_point)
    today.check()
    today.end()
    return fault_point.effects


def dies_at(world: World, point: Point) -> None:
    """A day that dies at a point and is taken up again; raises Broken when it does not end as it should."""
    today = Day(world)
    die(today.live, point)
    today.check()
    world.clock.sleep(60)
    today.live(FaultPoint())
    today.check()
    today.end()


def points(effects: int) -> list[Point]:
    """Every place where a day of so many effects can die."""
    return [*(Point(number, before=True) for number in range(1, effects + 1)), Point(effects, before=False)]


def die(live: Callable[[FaultPoint], None], point: Point) -> None:
    """Lives until the point, and dies there."""
    try:
        live(FaultPoint(Death(point.nth, point.before)))
    except Killed:
        return
    raise AssertionError(f"there is no place {point}")


def crash_sweep(
    chosen: Iterable[Point], dies: Callable[[Point], None], log: Callable[[str], None] = lambda _: None
) -> list[str]:
    """Dies at each; what went wrong, a line each."""
    wrong = []
    for tried, point in enumerate(chosen, start=1):
        try:
            dies(point)
        except Exception as error:  # noqa: BLE001  the other points are tried all the same
            wrong.append(f"{point}: {type(error).__name__}: {error}")
            log(wrong[-1])
        if tried % REPORTED_EVERY == 0:
            log(f"{tried - len(wrong)} of {tried} so far")
    return wrong
