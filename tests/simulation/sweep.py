"""The crash sweep: a day is run until its Nth effect, dies there, is taken up again by the schedule, and must end as if nothing had been.

Before effect N + 1 the world is exactly as after effect N, so dying before each effect and after the last is dying everywhere; a
request has a third place, on the way back: it was done and its answer was never read, which is after the request.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulation import day, errands
from simulation.broken import Broken
from simulation.erp import VENDORS
from simulation.model import Model, converged
from simulation.seam import Death, Killed, Seam
from simulation.shape import KNOWN_SKUS, UNKNOWN_SKUS, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shelfsync.wiring import House
    from simulation.world import World

SHAPE = Shape(job_seconds=5.0, skus=4, body_bytes_max=230)
"""Small, and several requests a vendor."""
TOLD_EVERY = 25


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
    """New prices, a stop-sell, a SKU that leaves, one that nobody knows, one that goes bad."""
    chance = random.Random(2)
    first, second = VENDORS
    world.erp.put((first, KNOWN_SKUS[0]), chance)
    world.erp.put((first, KNOWN_SKUS[1]), chance)
    world.erp.remove((first, KNOWN_SKUS[2]))
    world.erp.put((second, KNOWN_SKUS[1]), chance, bad=("price", "NaN"))
    world.erp.put((second, KNOWN_SKUS[3]), chance)
    world.erp.write()


class Day:
    """Morning: a full sync. Then the ERP changes, a delta sync, a picture of what the platform shows, and settling. What is done of it is remembered, as a scheduler does."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._model = Model(world)
        furnish(world, SHAPE)
        self._going: day.Going | None = None
        self._left = [("full", False), ("delta", True), ("export", False)]

    def live(self, seam: Seam) -> None:
        """The day from where it is to its end, or to the seam's death."""
        with self._world.house(seam) as house:
            while self._left:
                kind, changes = self._left[0]
                if changes and self._going is None:
                    change(self._world)
                if kind == "export":
                    errands.export(self._world, house, "day/export", (), errands.WORDS)
                else:
                    self._run(house, kind)
                self._left.pop(0)
                self._going = None
            house.settle()

    def check(self) -> None:
        """What holds at any time, also between death and recovery."""
        self._model.check()

    def end(self) -> None:
        """What must be at the day's end, when the schedule has had its time."""
        with self._world.house(Seam()) as house:
            day.quiet_rounds(self._world, house, 2)
            day.settle_down(self._world, house)
        self._model.check()
        lines = converged(self._world, may_be_rejected=False)
        if lines:
            raise Broken("I3", f"{len(lines)} differences, the first {lines[0]}")
        left = self._world.rows("SELECT 1 FROM ledger.job WHERE state IN ('submitting', 'open', 'confirmed')")
        left += self._world.rows("SELECT 1 FROM ledger.batch WHERE state = 'planned'")
        if left:
            raise Broken("I15", "something is still open")

    def _run(self, house: House, kind: str) -> None:
        """A run step by step; a step that died is the same step again, in another process."""
        if self._going is None:
            self._going = day.begin(house, kind, f"day/{kind}")
        while self._going.left:
            word, vendors = self._going.left[0]
            day.take(self._world, house, word, self._going.run_id, vendors)
            self._going.left.pop(0)
        house.report(self._going.run_id)


def effects_of_a_day(world: World) -> int:
    """How many effects a day without a death has."""
    seam = Seam()
    today = Day(world)
    today.live(seam)
    today.check()
    today.end()
    return seam.effects


def dies_at(world: World, point: Point) -> None:
    """A day that dies at a point and is taken up again; raises Broken when it does not end as it should."""
    today = Day(world)
    die(today.live, point)
    today.check()
    world.clock.sleep(60)
    today.live(Seam())
    today.check()
    today.end()


def points(effects: int) -> list[Point]:
    """Every place where a day of so many effects can die."""
    return [*(Point(number, before=True) for number in range(1, effects + 1)), Point(effects, before=False)]


def die(live: Callable[[Seam], None], point: Point) -> None:
    """Lives until the point, and dies there."""
    try:
        live(Seam(Death(point.nth, point.before)))
    except Killed:
        return
    raise AssertionError(f"there is no place {point}")


def sweep(
    chosen: Iterable[Point], dies: Callable[[Point], None], say: Callable[[str], None] = lambda _: None
) -> list[str]:
    """Dies at each; what went wrong, a line each."""
    wrong = []
    for tried, point in enumerate(chosen, start=1):
        try:
            dies(point)
        except Exception as error:  # noqa: BLE001  the other points are tried all the same
            wrong.append(f"{point}: {type(error).__name__}: {error}")
            say(wrong[-1])
        if tried % TOLD_EVERY == 0:
            say(f"{tried - len(wrong)} of {tried} so far")
    return wrong
