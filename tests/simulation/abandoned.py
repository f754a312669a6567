"""Processes of every kind die at each of their effects, and only the schedule recovers them.

No step is tried again and no run is continued: what follows is what Airflow starts by itself. It has the time of one job deadline
and two runs of each DAG to bring everything in step (I3, I15). An operator who received no answer repeats the action.
"""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from shelfsync.catalog.ledger.exports import LOST_AFTER_S, RUN_MAX_S
from simulation import abandoned_orders as orders
from simulation import day, operator_actions, pauses, promotions
from simulation.broken import Broken
from simulation.crash_points import Point, change, crash_sweep, die, furnish, points
from simulation.erp import VENDORS
from simulation.fault_point import FaultPoint
from simulation.model import Model, converged
from simulation.plan import Action
from simulation.shape import KNOWN_SKUS, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from app_calls import Calls
    from simulation.world import World

    Work = Callable[[Any, Calls], None]
    """With what its case has: the world, or orders in it."""

SHAPE = Shape(job_seconds=5.0, skus=4, body_max_bytes=230, priority_split_skus=0)
"""Small, and several requests a vendor."""
FIRST = VENDORS[0]
RUN_AFTER_S = 60.0
RECOVERED_AFTER_S = (300.0, 300.0, 300.0, 300.0, 900.0)
"""The schedule of recovery, until the deadline of a job (1,800 s) has passed."""
EXPORT_OVER_S = RUN_MAX_S + LOST_AFTER_S + 60.0
"""Beyond the end of a run of exports, which is longer: until then a lost export may be open."""
OPEN = {
    "jobs": "SELECT job_id FROM ledger.job WHERE kind = 'catalog' AND state IN ('submitting', 'open', 'confirmed')",
    "batches": "SELECT batch_id FROM ledger.batch WHERE state = 'planned'",
    "promotion jobs": "SELECT job_id FROM ledger.job WHERE kind = 'promotion' AND state IN ('planned', 'submitting', 'open')",
}
OPEN_EXPORTS = (
    "SELECT job_id FROM ledger.job WHERE kind = 'export' AND state IN ('planned', 'submitting', 'open', 'confirmed')"
)


@dataclass(frozen=True)
class Process:
    """One kind of process. `before` prepares what it works on; `again`: an operator repeats the action that got no answer."""

    name: str
    work: Work
    before: Work = lambda _world, _app: None
    again: Work = lambda _world, _app: None
    of_orders: bool = False

    def case(self, world: World, shape: Shape | None = None, seed: int = orders.SEED) -> Case | orders.OrdersCase:
        """A world in which it is the first: of this shape, or with this seed's orders."""
        return orders.OrdersCase(world, self, seed) if self.of_orders else Case(world, self, shape or SHAPE)


def _change(world: World, _: Calls | None = None) -> None:
    """Of the catalog, and of a campaign."""
    change(world)
    world.campaigns.tick(random.Random(2))


def _sync(world: World, app: Calls, kind: str) -> None:
    day.whole_run(world, app, kind, f"{kind}/{world.clock.monotonic_s()}")


def _export(world: World, app: Calls) -> None:
    operator_actions.export(world, app, f"export/{world.clock.monotonic_s()}", (), operator_actions.STEPS)


def _urgent(world: World, app: Calls) -> None:
    operator_actions.urgent_run(app, f"urgent/{world.clock.monotonic_s()}", FIRST, KNOWN_SKUS[:2])


def _promotions(world: World, app: Calls) -> None:
    promotions.work(world, app, "run", f"promotions/{world.clock.monotonic_s()}")


def _promotions_recover(world: World, app: Calls) -> None:
    promotions.work(world, app, "recover", "")


def _half_sent(world: World, app: Calls) -> None:
    """A run that was given up with its requests planned and the first of them sent."""
    _change(world)
    day.whole_run(world, app, "delta", "half", "deliver")


def _half_promoted(world: World, app: Calls) -> None:
    _change(world)
    promotions.work(world, app, "deliver", "half")


def _slip(world: World, app: Calls) -> None:
    """A price of the ERP loses its decimal point, and a guard holds it."""
    world.erp.slip((FIRST, KNOWN_SKUS[0]), random.Random(3))
    world.erp.write()
    _sync(world, app, "delta")


def _decide(verb: str, world: World, app: Calls) -> None:
    operator_actions.decide(world, app, Action("decide", 1, kind=verb))


def _restore(world: World, app: Calls) -> None:
    if not world.rows("SELECT 1 FROM ledger.restoration WHERE ended_at IS NULL"):
        row = world.rows("SELECT min(created_at) AS at FROM ledger.baseline WHERE vendor = :v", v=FIRST)[0]
        app.restore(FIRST, at=row.at, span=dt.timedelta(days=30), skus=None, dry_run=False, **operator_actions.WHO)


def _restored(world: World, app: Calls) -> None:
    _change(world)
    _sync(world, app, "delta")
    _restore(world, app)
    _sync(world, app, "delta")


def _end_restoration(_: World, app: Calls) -> None:
    app.end_restoration(FIRST, who=operator_actions.WHO["who"])


def _turn(verb: str, _: World, app: Calls) -> None:
    pauses.turn(app, verb, FIRST)


def _paused(world: World, app: Calls) -> None:
    _half_sent(world, app)
    _turn("pause", world, app)


PROCESSES = {
    process.name: process
    for process in (
        Process("full", partial(_sync, kind="full"), _change),
        Process("delta", partial(_sync, kind="delta"), _change),
        Process("urgent", _urgent, _change),
        Process("recover", lambda _, app: app.recover(), _half_sent),
        Process("export", _export, _change),
        Process("promotions", _promotions, _change),
        Process("promotions-recover", _promotions_recover, _half_promoted),
        Process("approve", partial(_decide, "approve"), _slip, partial(_decide, "approve")),
        Process("decline", partial(_decide, "decline"), _slip, partial(_decide, "decline")),
        Process("restore", _restore, _change, _restore),
        Process("end-restoration", _end_restoration, _restored, _end_restoration),
        Process("pause", partial(_turn, "pause"), _half_sent, partial(_turn, "resume")),
        Process("resume", partial(_turn, "resume"), _paused, partial(_turn, "resume")),
        Process("housekeeping", lambda _, app: app.remove_expired(), _change),
        Process("orders", orders.minute, orders.picked, of_orders=True),
        Process("orders-history", orders.history, orders.unreported, of_orders=True),
        Process("orders-result", orders.report, orders.handed_over, orders.report, of_orders=True),
        Process("orders-forget", orders.forget, orders.handed_over, orders.forget, of_orders=True),
    )
}


class Case:
    """Processes in a separate world, from a full sync on; the first of them finds what it works on."""

    def __init__(self, world: World, first: Process, shape: Shape = SHAPE) -> None:
        self._world = world
        self._lived: list[Process] = []
        self.model = Model(world)
        furnish(world, shape)
        with world.app(FaultPoint()) as app:
            _sync(world, app, "full")
            _promotions(world, app)
            first.before(world, app)
        self.model.check()

    def live(self, process: Process, fault_point: FaultPoint) -> None:
        """A process, to its end or to its death."""
        self._lived.append(process)
        with self._world.app(fault_point) as app:
            process.work(self._world, app)

    def follow(self) -> None:
        """What the schedule does, and what must be true after it; raises Broken."""
        world = self._world
        self.model.check()
        with world.app(FaultPoint()) as app:
            for process in self._lived:
                process.again(world, app)
            for number, waits_s in enumerate((RECOVERED_AFTER_S, RECOVERED_AFTER_S[:1])):
                world.clock.sleep(RUN_AFTER_S)
                day.tolerated(partial(_sync, world, app, "delta"))
                day.tolerated(partial(_promotions, world, app))
                if number == 0:
                    day.tolerated(partial(_export, world, app))
                for wait_s in waits_s:
                    world.clock.sleep(wait_s)
                    day.tolerated(app.recover)
                    day.tolerated(partial(_promotions_recover, world, app))
            self.model.check()
            self._in_step()
            world.clock.sleep(EXPORT_OVER_S)
            app.recover()
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
    """How many effects the process has without faults; afterwards platform and ERP are equal too."""
    case, fault_point = process.case(world), FaultPoint()
    case.live(process, fault_point)
    case.follow()
    return fault_point.effects


def dies_at(world: World, process: Process, point: Point) -> None:
    """The process dies at a point and only the schedule follows; raises Broken when that is not enough."""
    case = process.case(world)
    die(partial(case.live, process), point)
    case.follow()


def abandoned(
    world: World, names: Iterable[str], every: int = 1, log: Callable[[str], None] = lambda _: None
) -> tuple[int, list[str]]:
    """Each of the named kinds dies at every N-th of its points: how many there were, and a line for each that went wrong.

    The first point is before any effect, where nothing is left to follow; so one of N begins with the second.
    """
    tried, wrong = 0, []
    for name in names:
        process = PROCESSES[name]
        chosen = points(effects_of(world, process))[every > 1 :: every]
        found = [f"{name} {line}" for line in crash_sweep(chosen, partial(dies_at, world, process), log)]
        tried, wrong = tried + len(chosen), wrong + found
        log(f"{name}: {len(chosen) - len(found)} of {len(chosen)} deaths are followed up by the schedule")
    return tried, wrong
