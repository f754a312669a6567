"""Seeds whose processes die one after the other, in worlds of every shape, and only the schedule follows.

The seed chooses the world, up to three processes, and where each of them dies. The next one finds what the dead one left, and no step is
tried again. After the last death the schedule has one job deadline and two runs (I3, I15).
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

from simulation import day
from simulation.abandoned import PROCESSES, Case
from simulation.abandoned_orders import OrdersCase
from simulation.fault_point import Death, FaultPoint, Killed
from simulation.plan import Action, Plan
from simulation.seeds import SimulationRun
from simulation.shape import Shape, switched

LATER = ("full", "delta", "delta", "urgent", "recover", "export", "promotions", "promotions-recover", "housekeeping")
"""What comes after the first: these find work in any state."""
LATER_OF_ORDERS = tuple(name for name, process in PROCESSES.items() if process.of_orders)
GAPS_S = (1.0, 60.0, 400.0, 2000.0)
MOST = {"commit": 30, "request": 8, "rename": 9, "any": 60}
SURE = Action("dies", 1, kind="delta", seconds=60.0, death=Death(7, before=True))
"""A seed whose processes all end before their deaths dies here."""
SURE_OF_ORDERS = replace(SURE, kind="orders")


def unattended(seed: int) -> Plan:
    """The plan of a seed: an action for each process, with its death."""
    chance = random.Random(f"unattended {seed}")
    shape = Shape(
        dialect=chance.choice(("spec", "spec", "live", "legacy")),
        job_seconds=chance.choice((1.0, 5.0, 40.0, 400.0)),
        webhook=chance.random() < 0.7,
        body_max_bytes=chance.choice((230, 420, 100_000)),
        skus=chance.choice((4, 6)),
        priority_split_skus=chance.choice((1000, 3, 0)),
        buffer_known=chance.random() < 0.5,
        key=chance.choice(("sku", "sku", "barcode")),
        # A link that expires before the schedule fetches it is a fault that never ends.
        switches=tuple(pair for pair in switched(seed) if pair[0] != "link_life_s"),
        static_token=chance.random() < 0.2,
    )
    first = chance.choice(list(PROCESSES))
    later = LATER_OF_ORDERS if PROCESSES[first].of_orders else LATER
    names = [first, *(chance.choice(later) for _ in range(chance.choice((0, 1, 1, 2))))]
    return Plan(seed, shape, tuple(_dies(chance, name) for name in names))


def _dies(chance: random.Random, name: str) -> Action:
    kind = chance.choice(list(MOST))
    death = Death(chance.randint(1, MOST[kind]), chance.random() < 0.5, kind)
    return Action("dies", chance.getrandbits(32), kind=name, seconds=chance.choice(GAPS_S), death=death)


class UnattendedRun(SimulationRun):
    """The processes of a plan, each to its death, and the schedule after the last."""

    def _act(self) -> None:
        first = self.plan.actions[0]
        self._case = PROCESSES[first.kind].case(self.world, self.plan.shape, self.plan.seed)
        if isinstance(self._case, Case):
            self.model = self._case.model
        for action in self.plan.actions:
            if action is not first:
                self._meanwhile(action.seed)
            self._die(action)
        if not self.deaths:
            self._meanwhile(self.plan.seed)
            self._die(SURE_OF_ORDERS if isinstance(self._case, OrdersCase) else SURE)

    def _meanwhile(self, seed: int) -> None:
        """The ERP changes, or a customer orders."""
        if isinstance(self._case, OrdersCase):
            self._case.run.customer()
        else:
            self._tick(random.Random(seed), "")

    def _verify(self) -> None:
        """A world of orders has rules of its own, and no catalog."""
        if isinstance(self._case, OrdersCase):
            self._case.run.look()
        else:
            super()._verify()

    def _die(self, action: Action) -> None:
        self.log(f"+{self.world.clock.monotonic_s():.0f} s: {action}")
        fault_point = FaultPoint(action.death)
        try:
            line = day.tolerated(partial(self._case.live, PROCESSES[action.kind], fault_point))
        except Killed:
            self.deaths += 1
            line = f"killed: {fault_point.trail[-1]}"
        self.effects += fault_point.effects
        self.log(f"      {line or 'lived'}")
        self._verify()
        self.world.clock.sleep(action.seconds)

    def _converge(self) -> None:
        self._case.follow()
        self._verify()
