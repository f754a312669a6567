"""A chain's campaigns over weeks, as `promotion_feed` makes them: every seed has faults, processes that die, changes, and an end of nearly all.

After each change and its last fault, the platform has what the naive model of the rules gives, pair by pair.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from promotion_feed import HELD, SQL, Feed, NaiveModel, differences, on_platform, products
from promotion_shop import STORES
from simulation import day, promotions
from simulation.broken import Broken
from simulation.fault_point import FaultPoint
from simulation.plan import Action, Plan, rules
from simulation.promotion_plan import PLACES, worker
from simulation.seeds import SimulationRun
from simulation.shape import Shape
from small_erp import SQL as STOCK
from small_erp import SmallErp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app_calls import Calls

LATE = STORES[-1]
"""The catalog of this store is synced after the first promotions."""
ROUNDS_MAX = 10


def chain_campaigns(seed: int, kinds: Sequence[dict[str, Any]]) -> Plan:
    """The plan of a seed: what processes do and suffer after each change of the campaigns."""
    chance = random.Random(f"chain {seed}")
    shape = Shape(
        dialect=chance.choice(("spec", "spec", "live", "legacy")),
        job_seconds=chance.choice((1.0, 5.0, 40.0, 400.0)),
        static_token=chance.random() < 0.2,
    )
    able = [kind for kind in kinds if kind["kind"] not in promotions.WRONG_BY_CHANCE]
    actions: list[Action] = []
    for change in ("begin", "change", "change", "end"):
        actions.append(Action("campaigns", chance.getrandbits(32), kind=change))
        for _ in range(chance.randint(1, 3)):
            if chance.random() < 0.6:
                struck = rules(chance, able, PLACES, range(1, 5))
                actions.append(Action("faults", chance.getrandbits(32), rules=struck))
            actions.append(worker(chance))
            if chance.random() < 0.3:
                actions.append(Action("time", chance.getrandbits(32), seconds=chance.choice((60, 900, 8000))))
    return Plan(seed, shape, tuple(actions))


EXPIRED = "SELECT hold_id FROM ledger.hold WHERE rule = 'ended' AND state = 'expired' AND superseded_by IS NULL"


@dataclass(frozen=True)
class Source:
    """One section of the settings."""

    settings: dict[str, Any]


class CampaignsRun(SimulationRun):
    """The actions of a plan over a feed of the same seed."""

    pairs = 0
    """Compared so far."""

    def _act(self) -> None:
        self._open()
        for number, action in enumerate(self.plan.actions):
            self.log(f"{number:3} +{self.world.clock.monotonic_s():.0f} s: {action}")
            if action.verb == "campaigns":
                self._change(action.kind)
            else:
                self._do(action)
            self._verify()

    def _open(self) -> None:
        world, chance = self.world, random.Random(f"feed {self.plan.seed}")
        world.reset(self.plan.seed, self.plan.shape)
        self.file = world.folder / "chain.sqlite"
        self.file.unlink(missing_ok=True)
        erp = SmallErp(self.file)
        world.erp = Source({"url": erp.url, "sql": STOCK})  # type: ignore[assignment]  # its section is all that is read
        bundles = self.plan.shape.behaviour.promotion_values == "published"
        how = {"values": "spec" if bundles else "interface", "pairs_max": chance.choice((4, 2_000_000))}
        how["ahead_days"] = ahead = random.Random(f"ahead {self.plan.seed}").choice((3, 14, 400))
        world.campaigns = Source({"sql": SQL, **how})  # type: ignore[assignment]
        self.feed = Feed(self.plan.seed, chance.randint(20, 60), world.clock.now(), STORES)
        kinds = ("final", "several_for", "bundle") if bundles else ("final",)
        self.naive = NaiveModel(self.feed, unsynced={LATE}, kinds=kinds, ahead_days=ahead)
        for vendor in STORES:
            world.platform.put_products(vendor, products(self.feed, vendor))
        self._sync_catalog(set(STORES) - {LATE})

    def _sync_catalog(self, vendors: set[str]) -> None:
        self.feed.write_catalog(self.file, vendors)
        with self.world.app(FaultPoint()) as app:
            day.whole_run(self.world, app, "full", f"chain/{self.world.clock.monotonic_s()}")
            day.recover_until_quiescent(self.world, app)

    def _change(self, kind: str) -> None:
        """What the ERP had before is on the platform before it has something else."""
        if kind != "begin":
            self._run_until_quiescent()
        if self.naive.unsynced and kind != "begin":
            self._sync_catalog(set(STORES))
            self.naive.unsynced.clear()
        self.feed.now = self.world.clock.now().replace(microsecond=0)
        if kind == "change":
            self.feed.change()
        elif kind == "end":
            self.feed.end()
        self.feed.write(self.file)

    def _verify(self) -> None:
        """The ledger of promotions at any time."""
        self.world.unexpected.check()
        self.promotions.check_ledger()

    def _converge(self) -> None:
        self._run_until_quiescent()

    def _run_until_quiescent(self) -> None:
        """I3: after the last fault, runs until one of them sends nothing; then every pair."""
        world = self.world
        self.model.facts.note_faults()
        world.platform.faults()
        with world.app(FaultPoint()) as app:
            self._until_nothing_is_sent(app)
        self.check_pairs()

    def check_pairs(self) -> None:
        """What is on the platform, and what waits for a person, is what the rules give."""
        world = self.world
        now = world.clock.now()
        found = on_platform(partial(world.platform.control, "GET"))
        (planned_at,) = world.rows("SELECT max(planned_at) FROM ledger.promotion_run")[0]
        if lines := differences(found, self.naive.pairs(now, planned_at)):
            raise Broken("I3", lines)
        self.pairs += len(found)
        held = sum(row.skus for row in world.rows(HELD))
        if held != self.naive.held:
            raise Broken("I9", f"{held} SKUs are held, and {self.naive.held} are reduced by too much")

    def _until_nothing_is_sent(self, app: Calls) -> None:
        for number in range(ROUNDS_MAX):
            self.world.clock.sleep(90_000 if number < 2 else 4_000)  # beyond every deadline and wait for another try
            before = len(self.world.platform_rows("SELECT seq FROM job"))
            lines = []
            for kind in ("recover", "run", "recover"):
                key = f"chain/{self.world.clock.monotonic_s()}"
                lines.append(day.tolerated(partial(promotions.work, self.world, app, kind, key)))
                for row in self.world.rows(EXPIRED):
                    app.holds.reopen(row.hold_id, who="ada", why="simulated")
                app.promotions.decide_rule("ended", approve=True, by="ada")
            for line in filter(None, lines):
                self.log(f"      {line}")
            self.promotions.check_ledger()
            sent = len(self.world.platform_rows("SELECT seq FROM job")) - before
            if number > 1 and not sent and not any(lines):
                return
        raise Broken("I6", f"after {ROUNDS_MAX} runs there is still something to send: {lines}")
