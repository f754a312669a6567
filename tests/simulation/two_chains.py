"""Another chain of the installation beside the first: the same vendor ids and SKUs, and nothing of one may reach the other.

It has rows and prices, credentials, a webhook, a database and a lake of its own; the request limit and the platform's faults strike both.
Drawn from a chance of its own and put between the other actions.
"""

from __future__ import annotations

import dataclasses
import json
import random
from functools import partial
from typing import TYPE_CHECKING, Any

from simulation import day
from simulation.broken import Broken
from simulation.erp import FIRST_PRICE, VENDORS
from simulation.fault_point import FaultPoint
from simulation.model import converged
from simulation.onward import PORTAL_PRICE
from simulation.plan import Action, _worker
from simulation.seeds import SimulationRun
from simulation.world import SECOND

if TYPE_CHECKING:
    from app_calls import Calls
    from simulation.plan import Plan
    from simulation.world import World

SHARE = 0.5
"""In so many seeds there is another chain."""
BREAKS = 0.5
"""In so many of those one of the two is broken for a while at the end."""
WAYS = ("erp", "credentials", "platform")
SKUS = 4
ROUNDS_MAX = 4


def actions_of(seed: int, length: int) -> list[tuple[int, Action]]:
    """What happens in the other chain, each with the place before which it is done: alone, or at once with a process of the first."""
    chance = random.Random(f"chains {seed}")
    if chance.random() >= SHARE:
        return []
    first = chance.randint(1, 3)
    found = [(first, _there(Action("tick", chance.getrandbits(32), kind="all")))]
    found.append((first, _there(Action("run", chance.getrandbits(32), kind="full"))))
    for _ in range(chance.randint(2, 4)):
        place = chance.randint(first, length)
        found.append((place, _there(Action("tick", chance.getrandbits(32)))))
        at_work = _there(_worker(chance, chance.choice(("run", "run", "begin", "recover"))))
        if chance.random() < 0.5:
            at_work = Action("together", chance.getrandbits(32), both=(at_work, _worker(chance)))
        found.append((place, at_work))
        if chance.random() < 0.5:
            found.append((place, _there(_worker(chance, chance.choice(("go", "step", "recover"))))))
    return sorted(found, key=lambda one: one[0])


def _there(action: Action) -> Action:
    return Action("there", action.seed, both=(action,))


class SecondChainRun(SimulationRun):
    """What happens in the other chain. Its faults are those of the first."""

    def __init__(self, world: World, of: Plan, log: Any) -> None:
        skus = {"skus": SKUS, "static_token": random.Random(f"other token {of.seed}").random() < 0.5}
        super().__init__(world, dataclasses.replace(of, shape=dataclasses.replace(of.shape, **skus), actions=()), log)

    def begin(self) -> None:
        """As new; the first chain is that already."""
        self.world.reset(self.plan.seed, self.plan.shape)
        self.world.erp.write()

    def do(self, action: Action) -> None:
        """One action, and what must hold after it."""
        self._do(action)
        self._verify()

    def converge(self) -> None:
        """I3 of this chain; the other laws at an end are tried in the first one, and here only if the platform was wrong."""
        self.world.receive(up=True)
        self.world.erp.write()
        with self.world.app(FaultPoint()) as app:
            if self._wrong():
                self._in_step(app)
            else:
                _gets_in_step(self, app, "at the end")

    def _verify(self) -> None:
        self.model.check()


def nothing_crossed(worlds: tuple[World, World]) -> None:
    """Requests, events, files and prices of each chain are its own."""
    for world in worlds:
        name = world.chain.name
        if strange := world.listed.chains - {world.chain.at_platform}:
            raise Broken("chain", f"{name} has sent requests to {sorted(strange)}")
        sent = {_meaning(row.body) for row in world.platform_rows("SELECT body FROM delivery")}
        for row in world.rows("SELECT event_id, body FROM inbox.event"):
            if _meaning(row.body) not in sent:
                raise Broken("chain", f"the inbox of {name} has event {row.event_id}, which the platform never sent it")
        for table in ("warehouse.baseline", "warehouse.sku_outcome"):
            for row in world.rows(f"SELECT vendor, sku, price FROM {table} WHERE price IS NOT NULL"):
                if not _is_of(world, row.price):
                    raise Broken("chain", f"{name}: {table} has {row.vendor}/{row.sku} at {row.price}")
        for vendor in VENDORS:
            for sku, product in world.shown(vendor).items():
                if product.price not in {FIRST_PRICE, PORTAL_PRICE} and not _is_of(world, product.price):
                    raise Broken("chain", f"the platform shows {vendor}/{sku} of {name} at {product.price}")
        for row in world.rows("SELECT vendor, snapshot_path FROM ledger.vendor_run WHERE snapshot_path IS NOT NULL"):
            if any(one["price"] is not None and not _is_of(world, one["price"]) for one in _file(world, row)):
                raise Broken("chain", f"{name}: {row.snapshot_path} has prices of another chain")


def one_is_broken(first: SimulationRun, second: SimulationRun, seed: int) -> None:
    """I10 of chains: while one chain's ERP, credentials or account are of no use, the other gets in step; and then the first does."""
    chance = random.Random(f"broken chain {seed}")
    if chance.random() >= BREAKS:
        return
    broken, well = chance.sample((first, second), 2)
    what = chance.choice(WAYS)
    first.log(f"{broken.world.chain.name} has no use of its {what}")
    for run in (broken, well):
        run._tick(chance, "")
    broken.world.break_chain(what)
    with broken.world.app(FaultPoint()) as app:
        key = f"broken/{broken.world.clock.monotonic_s()}"
        day.tolerated(partial(day.whole_run, broken.world, app, "delta", key))
    with well.world.app(FaultPoint()) as app:
        _gets_in_step(well, app, f"while {broken.world.chain.name} has no use of its {what}")
    broken.world.mend_chain()
    with broken.world.app(FaultPoint()) as app:
        _gets_in_step(broken, app, f"after it had no use of its {what}")


def _gets_in_step(run: SimulationRun, app: Calls, when: str) -> None:
    lines: list[str] = []
    for _ in range(ROUNDS_MAX):
        run._rounds(app, "delta", 1)
        day.recover_until_quiescent(run.world, app)
        lines = converged(run.world, may_be_rejected=True)
        if not lines or run._wrong():
            return
    raise Broken("I10", f"{run.world.chain.name} {when}: {len(lines)} differences, the first {lines[0]}")


def _is_of(world: World, price: Any) -> bool:
    """Whether a price can be this chain's. The highest one of the first chain is below the lowest one of the second."""
    return (price >= SECOND.first_price) == (world.beside is not None)


def _file(world: World, row: Any) -> list[dict[str, Any]]:
    from shelfsync.store.lake import Lake

    return Lake(world.lake).read_table(row.snapshot_path).to_pylist()


def _meaning(body: Any) -> str:
    return json.dumps(json.loads(body), sort_keys=True)
