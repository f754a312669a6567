"""One seed from its plan to its verdict."""

from __future__ import annotations

import contextlib
import logging
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simulation import campaign_decisions, day, operator_actions, pauses, promotions
from simulation.broken import Broken
from simulation.erp import BAD, BAD_BARCODE, VENDORS
from simulation.fault_point import FaultPoint, Killed, Turns
from simulation.model import LEFT, Model, converged
from simulation.plan import Plan, former, plan
from simulation.shape import KNOWN_SKUS, UNKNOWN_SKUS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from app_calls import Calls
    from simulation.plan import Action
    from simulation.two_chains import SecondChainRun
    from simulation.world import World

TICK_ROWS_MAX = 5
BY_CHANCE_WRONG = ("not_applied", "portal_edit", "job_first", "log_of_another", "job_id_of_another")
"""Faults after which the platform differs although it reported success; only a full sync corrects it."""

EXPORTED_SHARE, ONE_FAILS, LOST_SHARE = 0.3, 0.25, 0.25
"""In so many seeds an export finds no drift and resends nothing; one vendor fails for a while by itself; the lake loses what it remembers."""
REMEMBERED = ("baseline", "known", "categories", "names", "observed")
"""Kinds of the lake's files that later runs read. The others are those of a run, a job or a decision."""
WITHOUT_EFFECT = frozenset(("campaigns", "tick", "slip", "erp", "faults", "calm", "receiver", "appear"))
"""Actions after which there is nothing to verify: neither shelfsync nor the platform's work went on."""
BUSY_ROUNDS_MAX = 4
"""So many runs may pass a vendor over while the jobs of an older run end."""
OF_ONE_VENDOR = (
    ("put_catalog", "status_500"),
    ("put_catalog", "status_400"),
    ("put_catalog", "drop_answer"),
    ("job", "failed"),
    ("job", "stuck"),
    ("log", "html_page"),
    ("log", "expired"),
)


@dataclass
class Verdict:
    """The result of a seed: `broken` names the invariant, None if all held."""

    seed: int
    broken: str | None = None
    case: str = ""
    actions: int = 0
    effects: int = 0
    deaths: int = 0
    seconds: float = 0.0
    struck: Counter[str] = field(default_factory=Counter)


class SimulationRun:
    """The actions of a plan as they are done."""

    def __init__(self, world: World, of: Plan, log: Callable[[str], None] = lambda _: None) -> None:
        self.world = world
        self.plan = of
        self.log = log
        self.model = Model(world)
        self.promotions = promotions.PromotionModel(
            world, wrong=lambda: any(map(self.model.facts.has_struck_now, promotions.WRONG_BY_CHANCE))
        )
        self.second: SecondChainRun | None = None
        """The other chain, in seeds that have one."""
        self.runs: list[day.Going] = []
        self.effects = self.deaths = 0
        self._keys = 0

    def run(self, *, converge: bool = True) -> None:
        """Performs all actions, then converges if wanted; raises Broken."""
        self._act()
        if converge:
            self._converge()
        if converge and self.second is not None:
            self._converge_both(self.second)

    def _act(self) -> None:
        self.world.reset(self.plan.seed, self.plan.shape)
        if self.world.second is not None and any(_is_there(action) for action in self.plan.actions):
            from simulation.two_chains import SecondChainRun  # made of this class

            self.second = SecondChainRun(self.world.second, self.plan, self.log)
            self.second.begin()
        for number, action in enumerate(self.plan.actions):
            self.log(f"{number:3} +{self.world.clock.monotonic_s():.0f} s: {action}")
            self._do(action)
            if action.verb not in WITHOUT_EFFECT:
                self._verify()
            if self.second is not None and _is_there(action):
                self.second._verify()

    def _converge_both(self, second: SecondChainRun) -> None:
        """I3 of the other chain, and that neither has anything of the other or stops it."""
        from simulation import two_chains

        second.converge()
        two_chains.one_is_broken(self, second, self.plan.seed)
        two_chains.nothing_crossed((self.world, second.world))
        self.effects, self.deaths = self.effects + second.effects, self.deaths + second.deaths

    def _note_faults(self) -> None:
        """Of every chain, before the rules are replaced."""
        self.model.facts.note_faults()
        if self.second is not None:
            self.second.model.facts.note_faults()

    def _verify(self) -> None:
        self.model.check()
        self.promotions.check()

    def _do(self, action: Action) -> None:
        match action.verb:
            case "campaigns":
                change = self.world.campaigns.slip if action.kind == "slip" else self.world.campaigns.tick
                change(random.Random(action.seed))
            case "tick":
                self._tick(random.Random(action.seed), action.kind)
            case "slip":
                chance = random.Random(action.seed)
                self.world.erp.slip((action.kind, chance.choice(KNOWN_SKUS)), chance)
                self.world.erp.write()
            case "erp":
                self.world.erp.write(action.kind, action.seed)
            case "time":
                self.world.clock.sleep(action.seconds)
            case "faults":
                self._note_faults()
                self.world.platform.faults(*map(dict, action.rules), seed=action.seed)
            case "calm":
                self._note_faults()
                self.world.platform.faults()
            case "receiver":
                self.world.receive(action.kind == "up")
            case "appear":
                self.world.appear(*action.kind.split())
            case "together":
                self._together(action)
            case "there":
                if self.second is not None:
                    self.second._do(action.both[0])
            case _:
                self._process(action, FaultPoint(action.death))

    def _tick(self, chance: random.Random, kind: str) -> None:
        """The ERP changes its rows."""
        erp = self.world.erp
        bad = (*BAD, BAD_BARCODE) if self.world.shape.barcodes else BAD
        if kind == "all":
            for vendor in VENDORS:
                for sku in KNOWN_SKUS:
                    erp.put((vendor, sku), chance)
        for _ in range(chance.randint(1, TICK_ROWS_MAX)):
            key = (chance.choice(VENDORS), chance.choice((*KNOWN_SKUS, *KNOWN_SKUS, *UNKNOWN_SKUS)))
            what = chance.choices(("put", "sell", "bad", "again", "remove"), (10, 8, 2, 3, 3))[0]
            if what == "remove":
                erp.remove(key)
            elif what == "sell":
                erp.sell(key, chance)
            elif what == "again":
                erp.again(key, chance)
            else:
                erp.put(key, chance, bad=chance.choice(bad) if what == "bad" else None)
        erp.write()

    def _process(self, action: Action, fault_point: FaultPoint) -> None:
        """A process of shelfsync performs one action, or dies during it."""
        line: str | None
        begun_at = self.world.clock.now()
        try:
            with self.world.app(fault_point) as app:
                line = day.tolerated(lambda: self._work(action, app))
        except Killed:
            self.deaths += 1
            line = f"killed: {fault_point.trail[-1]}"
        self.effects += fault_point.effects
        if line:
            self.log(f"      {line}")
        elif action.verb == "recover" and fault_point.turns is None:
            self.model.no_job_is_overdue(begun_at)

    def _work(self, action: Action, app: Calls) -> None:
        match action.verb:
            case "run":
                day.whole_run(self.world, app, action.kind, self._key(action))
            case "begin":
                self.runs.append(day.begin(app, action.kind, self._key(action)))
            case "go":
                self._go(action, app)
            case "step":
                known = self.world.rows(
                    "SELECT run_id FROM ledger.run ORDER BY run_id DESC OFFSET :n LIMIT 1", n=action.number
                )
                for row in known:
                    day.take(app, action.kind, row.run_id, list(VENDORS))
            case "upto_batch" | "upto_deliver":
                verb = action.verb.removeprefix("upto_")
                self.runs.append(day.whole_run(self.world, app, action.kind, self._key(action), verb))
            case "recover":
                app.recover()
            case "pause" | "resume":
                pauses.turn(app, action.verb, action.kind)
            case "export" | "export_again" | "urgent" | "decide" | "restore" | "restore_end":
                operator_actions.work(self.world, app, action, self._key(action))
            case "campaign_hold":
                campaign_decisions.work(self.world, app, action)
            case "promotions":
                promotions.work(self.world, app, action.kind, self._key(action))
            case other:
                raise ValueError(other)

    def _go(self, action: Action, app: Calls) -> None:
        """Some steps of a run that was begun."""
        going = [run for run in self.runs if run.left]
        if going:
            run = going[action.number % len(going)]
            for _ in range(1 + action.seed % 4):
                day.go_on(app, run)

    def _together(self, action: Action) -> None:
        """Two processes at once: at each effect a seeded choice continues one of them."""
        turns = Turns(action.seed)
        names = [f"worker {number}" for number in range(len(action.both))]
        turns.join(*names)
        wrong: list[BaseException] = []

        def work(name: str, what: Action) -> None:
            try:
                turns.wait(name)
                run = self
                if what.verb == "there":
                    run, what = self.second or self, what.both[0]
                run._process(what, FaultPoint(what.death, turns, name))
            except BaseException as error:  # noqa: BLE001  handed to the thread that waits
                wrong.append(error)
            finally:
                turns.leave(name)

        threads = [threading.Thread(target=work, args=pair) for pair in zip(names, action.both, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if wrong:
            raise wrong[0]

    def _key(self, action: Action) -> str:
        self._keys += 1
        return f"simulation/{action.seed}/{self._keys}"

    def _converge(self) -> None:
        """I3: the last fault is over."""
        world = self.world
        self._note_faults()
        world.platform.faults()
        world.receive(up=True)
        world.erp.write()
        self.log(f"quiescent +{world.clock.monotonic_s():.0f} s")
        if lost := random.Random(f"lost {self.plan.seed}").random() < LOST_SHARE:
            self.log(f"the lake loses {world.lose(REMEMBERED)} files")
        with world.app(FaultPoint()) as app:
            pauses.end_all(app)
            self._while_restored(app)
            operator_actions.end_all(app)
            self._while_one_fails(app)
            self._in_step(app)
            if lost:  # a campaign waits for the file of the last export, which the next one brings
                operator_actions.export(world, app, f"lost/{world.clock.monotonic_s()}", (), operator_actions.STEPS)
            self.promotions.check_when_quiescent(app, self.log)

    def _in_step(self, app: Calls) -> None:
        """I3, I6 and I15 of the catalog."""
        world = self.world
        self._delta_rounds(app, lambda: converged(world, may_be_rejected=True))
        for _ in range(2 * BUSY_ROUNDS_MAX):
            if self._passed_over():
                self._rounds(app, "delta", 1)
            elif not self._open():
                break
            day.recover_until_quiescent(world, app)
        wrong = self._wrong()
        if not wrong:
            _expect(converged(world, may_be_rejected=True), "I3 by delta runs")
        self._rounds(app, "full", 1)
        for _ in range(BUSY_ROUNDS_MAX):  # each body whose link has died takes its deadline
            day.recover_until_quiescent(world, app)
            if not self._open():
                break
        lines = converged(world, may_be_rejected=False)
        if wrong:
            lines = [line for line in lines if LEFT not in line]  # a full sync does not repeat what has left the ERP
        _expect(lines, "I3 after a full run")
        _expect([f"job {row.job_id} is {row.state}" for row in self._open()], "I15")
        # The text of a chance is part of every recorded seed: it stays as it is.
        exported = random.Random(f"picture {self.plan.seed}").random() < EXPORTED_SHARE
        if (
            exported and not self.model.believed_too_early()
        ):  # what was reported as done and was not, the export rightly resends
            operator_actions.export(world, app, f"quiescent/{world.clock.monotonic_s()}", (), operator_actions.STEPS)
            self._verify()
            if wrong:  # what has left the ERP is not repeated by a full sync; an export resends it
                self._rounds(app, "delta", 1)
                day.recover_until_quiescent(world, app)
        if world.rows("SELECT 1 FROM ledger.hold WHERE state = 'open' AND subject = 'catalog'"):
            self._rounds(app, "delta", 1)  # without rejected SKUs, a hold may be small enough to pass
            day.recover_until_quiescent(world, app)
        for _ in range(BUSY_ROUNDS_MAX):
            if not self._unconfirmed():
                break
            self._rounds(app, "delta", 1)
            day.recover_until_quiescent(world, app)
        before = len(world.platform_rows("SELECT seq FROM job"))
        self._rounds(app, "delta", 1)
        if len(world.platform_rows("SELECT seq FROM job")) != before:
            raise Broken("I6", "a run without changes has sent something")

    def _open(self) -> list[Any]:
        return self.world.rows(
            "SELECT job_id, state FROM ledger.job WHERE kind = 'catalog' AND state IN ('submitting', 'open', 'confirmed')"
        )

    def _passed_over(self) -> bool:
        """Whether the last run passed a vendor over because of jobs of an older run."""
        last = "SELECT 1 FROM ledger.vendor_run WHERE state = 'busy' AND run_id = (SELECT max(run_id) FROM ledger.run)"
        return bool(self.world.rows(last))

    def _unconfirmed(self) -> bool:
        """Whether a job of the last run ended unconfirmed, as where a link expires before recovery: it is rightly sent again (I7)."""
        last = (
            "SELECT 1 FROM ledger.job JOIN ledger.batch USING (batch_id) WHERE ledger.job.state = 'unconfirmed'"
            " AND run_id = (SELECT max(run_id) FROM ledger.run)"
        )
        return bool(self.world.rows(last))

    def _wrong(self) -> bool:
        """Whether the platform differs although it reported success."""
        return self.model.facts.has_struck(*BY_CHANCE_WRONG) or self.model.believed_too_early()

    def _while_restored(self, app: Calls) -> None:
        """I3 while a restoration lasts: the platform equals what was acknowledged then."""
        in_force = [self.model.restorations.in_force(vendor) for vendor in VENDORS]
        if not any(in_force):
            return
        wanted = self.model.restorations.wanted
        self._delta_rounds(app, lambda: converged(self.world, may_be_rejected=True, restored=wanted))
        lasts = in_force == [self.model.restorations.in_force(vendor) for vendor in VENDORS]
        if lasts and not self._wrong() and not self.world.erp.coherent:
            _expect(converged(self.world, may_be_rejected=True, restored=wanted), "I3 while restored")

    def _while_one_fails(self, app: Calls) -> None:
        """I10: while every call of one vendor fails, the same runs bring the other vendor in step."""
        chance = random.Random(f"one fails {self.plan.seed}")
        if chance.random() >= ONE_FAILS:
            return
        first, second = VENDORS
        at, kind = chance.choice(OF_ONE_VENDOR)
        self._tick(chance, "")
        self.world.platform.faults({"at": at, "kind": kind, "vendor": first})

        def of_second() -> list[str]:
            lines = converged(self.world, may_be_rejected=True)
            return [line for line in lines if line.startswith(f"{second}/")]

        self._delta_rounds(app, of_second)
        self._note_faults()
        self.world.platform.faults()
        if not self._wrong():
            _expect(of_second(), "I10")

    def _delta_rounds(self, app: Calls, differences: Callable[[], list[str]]) -> None:
        """Two rounds; only one if it has failed nowhere, left nothing open and brought everything in step."""
        for _ in range(2):
            lines = self._rounds(app, "delta", 1)
            day.recover_until_quiescent(self.world, app)
            if not (lines or self._passed_over() or self._open() or self._unconfirmed() or differences()):
                return

    def _rounds(self, app: Calls, kind: str, rounds: int) -> list[str]:
        """Its failures, in lines."""
        lines = day.quiescent_rounds(self.world, app, rounds, kind)
        for line in lines:
            self.log(f"      {line}")
        self._verify()
        return lines


def _is_there(action: Action) -> bool:
    """Whether the other chain has a part in it."""
    return action.verb == "there" or any(map(_is_there, action.both))


def _expect(lines: list[str], invariant: str) -> None:
    if lines:
        raise Broken(invariant, f"{len(lines)} differences, the first {lines[0]}")


def try_plan(
    world: World,
    of: Plan,
    log: Callable[[str], None] = lambda _: None,
    way: type[SimulationRun] = SimulationRun,
) -> Verdict:
    """Runs a plan in one of the ways there are and returns its verdict."""
    verdict = Verdict(of.seed, actions=len(of.actions))
    simulation_run = way(world, of, log)
    judge(verdict, simulation_run.run)
    verdict.effects, verdict.deaths = simulation_run.effects, simulation_run.deaths
    verdict.struck = simulation_run.model.facts.struck
    return verdict


def judge(verdict: Verdict, run: Callable[[], object]) -> None:
    """Runs a seed and writes into its verdict what it broke, and how long it took."""
    began_s = time.monotonic()
    with _quietly():
        try:
            run()
        except Broken as broken:
            verdict.broken, verdict.case = broken.invariant, str(broken)
        except Exception as error:  # noqa: BLE001  whatever it is, it is this seed's failure
            verdict.broken, verdict.case = type(error).__name__, _where(error)
    verdict.seconds = time.monotonic() - began_s


def try_seed(world: World, seed: int, log: Callable[[str], None] = lambda _: None) -> Verdict:
    """A seed's own plan."""
    return try_plan(world, plan_of(world, seed), log)


def plan_of(world: World, seed: int, *, now: bool = True) -> Plan:
    """The plan of a number; not `now`: as it was before operator actions and switches."""
    kinds = fault_kinds(world)
    return plan(seed, kinds) if now else former(seed, kinds)


def fault_kinds(world: World) -> list[dict[str, Any]]:
    """What the sandbox lists of its faults."""
    kinds: list[dict[str, Any]] = world.platform.control("GET", "faults")["kinds"]
    return kinds


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" at {trace.tb_frame.f_code.co_filename.rsplit('/', 2)[-1]}:{trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__}: {error}{place}"


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Faults are the subject here; their log lines are not."""
    logger = logging.getLogger("shelfsync")
    before = logger.propagate
    logger.propagate = False
    silence = logging.NullHandler()
    logger.addHandler(silence)
    try:
        yield
    finally:
        logger.removeHandler(silence)
        logger.propagate = before
