"""Processes of every kind die at each of their effects, and nothing takes them up but the schedule.

No step is tried again and no run is continued: what follows is what Airflow starts by itself. It has the time of one job deadline
and two runs of each DAG to bring everything in step (I3, I15). A person who saw no answer gives the same order once more.
"""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from simulation import day, errands, pauses, promotions
from simulation.broken import Broken
from simulation.erp import VENDORS
from simulation.model import Model, converged
from simulation.plan import Action
from simulation.seam import Seam
from simulation.shape import KNOWN_SKUS, Shape
from simulation.sweep import Point, change, die, furnish, points, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shelfsync.wiring import House
    from simulation.world import World

    Work = Callable[[World, House], None]

SHAPE = Shape(job_seconds=5.0, skus=4, body_bytes_max=230, together_rows_max=0)
"""Small, and several requests a vendor."""
FIRST = VENDORS[0]
RUN_AFTER_S = 60.0
SETTLED_AFTER_S = (300.0, 300.0, 300.0, 300.0, 900.0)
"""The schedule of settling, until the deadline of a job (1,800 s) has passed."""
EXPORT_OVER_S = 4300.0
"""Beyond the deadline of an export, which is longer: until then a lost one may be called open."""
OPEN = {
    "jobs": "SELECT job_id FROM ledger.job WHERE state IN ('submitting', 'open', 'confirmed')",
    "batches": "SELECT batch_id FROM ledger.batch WHERE state = 'planned'",
    "promotion jobs": "SELECT job_id FROM ledger.promotion_job WHERE state IN ('planned', 'submitting', 'open')",
}
OPEN_EXPORTS = "SELECT export_id FROM ledger.export WHERE state IN ('planned', 'requesting', 'open', 'observed')"


@dataclass(frozen=True)
class Process:
    """One kind of process. `before` prepares what it works on; `again`: a person repeats the order that got no answer."""

    name: str
    work: Work
    before: Work = lambda _world, _house: None
    again: Work = lambda _world, _house: None


def _change(world: World, _: House | None = None) -> None:
    """Of the catalog, and of a campaign."""
    change(world)
    world.campaigns.tick(random.Random(2))


def _sync(world: World, house: House, kind: str) -> None:
    day.whole_run(world, house, kind, f"{kind}/{world.clock.monotonic_s()}")


def _export(world: World, house: House) -> None:
    errands.export(world, house, f"export/{world.clock.monotonic_s()}", (), errands.WORDS)


def _urgent(world: World, house: House) -> None:
    errands.urgent_run(world, house, f"urgent/{world.clock.monotonic_s()}", FIRST, KNOWN_SKUS[:2])


def _promotions(world: World, house: House) -> None:
    promotions.work(world, house, "run", f"promotions/{world.clock.monotonic_s()}")


def _promotions_settle(world: World, house: House) -> None:
    promotions.work(world, house, "settle", "")


def _half_sent(world: World, house: House) -> None:
    """A run that was given up with its requests planned and the first of them sent."""
    _change(world)
    day.whole_run(world, house, "delta", "half", "deliver")


def _half_promoted(world: World, house: House) -> None:
    _change(world)
    promotions.work(world, house, "deliver", "half")


def _slip(world: World, house: House) -> None:
    """A price of the ERP loses its decimal point, and a guard holds it."""
    world.erp.slip((FIRST, KNOWN_SKUS[0]), random.Random(3))
    world.erp.write()
    _sync(world, house, "delta")


def _decide(word: str, world: World, house: House) -> None:
    errands.decide(world, house, Action("decide", 1, kind=word))


def _restore(world: World, house: House) -> None:
    if not world.rows("SELECT 1 FROM ledger.restoration WHERE ended_at IS NULL"):
        row = world.rows("SELECT min(created_at) AS at FROM ledger.baseline WHERE vendor = :v", v=FIRST)[0]
        house.restore(FIRST, at=row.at, span=dt.timedelta(days=30), skus=None, dry_run=False, **errands.WHO)


def _restored(world: World, house: House) -> None:
    _change(world)
    _sync(world, house, "delta")
    _restore(world, house)
    _sync(world, house, "delta")


def _end_restoration(_: World, house: House) -> None:
    house.end_restoration(FIRST, who=errands.WHO["who"])


def _turn(word: str, _: World, house: House) -> None:
    pauses.turn(house, word, FIRST)


def _paused(world: World, house: House) -> None:
    _half_sent(world, house)
    _turn("pause", world, house)


PROCESSES = {
    one.name: one
    for one in (
        Process("full", partial(_sync, kind="full"), _change),
        Process("delta", partial(_sync, kind="delta"), _change),
        Process("urgent", _urgent, _change),
        Process("settle", lambda _, house: house.settle(), _half_sent),
        Process("export", _export, _change),
        Process("promotions", _promotions, _change),
        Process("promotions-settle", _promotions_settle, _half_promoted),
        Process("approve", partial(_decide, "approve"), _slip, partial(_decide, "approve")),
        Process("reject", partial(_decide, "reject"), _slip, partial(_decide, "reject")),
        Process("restore", _restore, _change, _restore),
        Process("end-restoration", _end_restoration, _restored, _end_restoration),
        Process("pause", partial(_turn, "pause"), _half_sent, partial(_turn, "resume")),
        Process("resume", partial(_turn, "resume"), _paused, partial(_turn, "resume")),
        Process("housekeeping", lambda _, house: house.keep_house(), _change),
    )
}


class Case:
    """One process in a world of its own, from a full sync on."""

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process
        self.model = Model(world)
        furnish(world, SHAPE)
        with world.house(Seam()) as house:
            _sync(world, house, "full")
            _promotions(world, house)
            process.before(world, house)
        self.model.check()

    def live(self, seam: Seam) -> None:
        """The process, to its end or to its death."""
        with self._world.house(seam) as house:
            self._process.work(self._world, house)

    def follow(self) -> None:
        """What the schedule does, and what must be true after it; raises Broken."""
        world = self._world
        self.model.check()
        with world.house(Seam()) as house:
            self._process.again(world, house)
            for number, waits_s in enumerate((SETTLED_AFTER_S, SETTLED_AFTER_S[:1])):
                world.clock.sleep(RUN_AFTER_S)
                day.tolerated(partial(_sync, world, house, "delta"))
                day.tolerated(partial(_promotions, world, house))
                if number == 0:
                    day.tolerated(partial(_export, world, house))
                for wait_s in waits_s:
                    world.clock.sleep(wait_s)
                    day.tolerated(house.settle)
                    day.tolerated(partial(_promotions_settle, world, house))
            self.model.check()
            self._in_step()
            world.clock.sleep(EXPORT_OVER_S)
            house.settle()
        if rows := world.rows(OPEN_EXPORTS):
            raise Broken("I15", f"{len(rows)} exports are still open")

    def _in_step(self) -> None:
        lines = converged(self._world, may_be_rejected=True, restored=self.model.restorations.wanted)
        if lines:
            raise Broken("I3", f"{len(lines)} differences, the first {lines[0]}")
        for name, statement in OPEN.items():
            if rows := self._world.rows(statement):
                raise Broken("I15", f"{len(rows)} {name} are still open")
        promotions.PromotionModel(self._world, wrong=lambda: False).in_step()


def effects_of(world: World, process: Process) -> int:
    """How many effects the process has where nothing goes wrong; afterwards everything is in step too."""
    case, seam = Case(world, process), Seam()
    case.live(seam)
    case.follow()
    return seam.effects


def dies_at(world: World, process: Process, point: Point) -> None:
    """The process dies at a point and only the schedule follows; raises Broken when that is not enough."""
    case = Case(world, process)
    die(case.live, point)
    case.follow()


def abandoned(
    world: World, names: Iterable[str], every: int = 1, say: Callable[[str], None] = lambda _: None
) -> tuple[int, list[str]]:
    """Each of the named kinds dies at every so-manieth of its points: how many there were, and a line for each that went wrong."""
    tried, wrong = 0, []
    for name in names:
        process = PROCESSES[name]
        chosen = points(effects_of(world, process))[::every]
        found = [f"{name} {line}" for line in sweep(chosen, partial(dies_at, world, process), say)]
        tried, wrong = tried + len(chosen), wrong + found
        say(f"{name}: {len(chosen) - len(found)} of {len(chosen)} deaths are followed up by the schedule")
    return tried, wrong
