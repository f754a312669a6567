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

from simulation import day, errands, pauses, promotions
from simulation.broken import Broken
from simulation.erp import BAD, BAD_BARCODE, VENDORS
from simulation.model import LEFT, Model, converged
from simulation.plan import Plan, former, plan
from simulation.seam import Killed, Seam, Turns
from simulation.shape import KNOWN_SKUS, UNKNOWN_SKUS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shelfsync.wiring import House
    from simulation.plan import Action
    from simulation.world import World

TICK_ROWS_MAX = 5
BY_CHANCE_WRONG = ("not_applied", "portal_edit", "job_first", "log_of_another", "job_id_of_another")
"""Faults after which the platform differs although it said that all went well; only a full sync finds out."""

PICTURED, ONE_FAILS = 0.3, 0.25
"""In so many seeds a picture is taken of what is in step, and heals nothing; and one vendor fails for a while by itself."""
BUSY_ROUNDS_MAX = 4
"""Runs that pass a vendor over say nothing new; so many may, while what an older run had planned is brought to its end."""
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
    """What became of a seed: `broken` names the invariant, None when all held."""

    seed: int
    broken: str | None = None
    case: str = ""
    actions: int = 0
    effects: int = 0
    deaths: int = 0
    seconds: float = 0.0
    struck: Counter[str] = field(default_factory=Counter)


class _Told(logging.Handler):
    """Catches what a step calls an unexpected error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.first: logging.LogRecord | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and self.first is None:
            self.first = record


class Course:
    """The actions of a plan as they are done."""

    def __init__(self, world: World, of: Plan, say: Callable[[str], None] = lambda _: None) -> None:
        self.world = world
        self.plan = of
        self.say = say
        self.model = Model(world)
        self.promotions = promotions.PromotionModel(
            world, wrong=lambda: any(map(self.model.facts.has_struck_now, promotions.WRONG_BY_CHANCE))
        )
        self.runs: list[day.Going] = []
        self.effects = self.deaths = 0
        self._keys = 0

    def run(self, *, quiet: bool = True) -> None:
        """All of it, to the quiet at the end if wanted; raises Broken."""
        self.world.reset(self.plan.seed, self.plan.shape)
        told = _Told()
        logger = logging.getLogger("shelfsync.flow.each_vendor")
        logger.addHandler(told)
        try:
            for number, action in enumerate(self.plan.actions):
                self.say(f"{number:3} +{self.world.clock.monotonic_s():.0f} s: {action}")
                self._do(action)
                self._verify(told)
            if quiet:
                self._quiet(told)
        finally:
            logger.removeHandler(told)

    def _verify(self, told: _Told) -> None:
        if told.first is not None and told.first.exc_info:
            error = told.first.exc_info[1]
            raise Broken("unexpected error", f"{told.first.getMessage()}: {type(error).__name__}: {error}") from error
        self.model.check()
        self.promotions.check()

    def _do(self, action: Action) -> None:
        match action.word:
            case "campaigns":
                self.world.campaigns.tick(random.Random(action.seed))
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
                self.model.facts.note_faults()
                self.world.platform.faults(*map(dict, action.rules), seed=action.seed)
            case "calm":
                self.model.facts.note_faults()
                self.world.platform.faults()
            case "receiver":
                self.world.receive(action.kind == "up")
            case "appear":
                self.world.appear(*action.kind.split())
            case "together":
                self._together(action)
            case _:
                self._process(action, Seam(action.death))

    def _tick(self, chance: random.Random, kind: str) -> None:
        """The ERP goes on."""
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

    def _process(self, action: Action, seam: Seam) -> None:
        """A process of the house does one thing, or dies of it."""
        line: str | None
        try:
            with self.world.house(seam) as house:
                line = day.tolerated(lambda: self._work(action, house))
        except Killed:
            self.deaths += 1
            line = f"killed: {seam.trail[-1]}"
        self.effects += seam.effects
        if line:
            self.say(f"      {line}")
        elif action.word == "settle" and seam.turns is None:
            self.model.no_job_is_overdue()

    def _work(self, action: Action, house: House) -> None:
        match action.word:
            case "run":
                day.whole_run(self.world, house, action.kind, self._key(action))
            case "begin":
                self.runs.append(day.begin(house, action.kind, self._key(action)))
            case "go":
                self._go(action, house)
            case "step":
                known = self.world.rows(
                    "SELECT run_id FROM ledger.run ORDER BY run_id DESC OFFSET :n LIMIT 1", n=action.number
                )
                for row in known:
                    day.take(self.world, house, action.kind, row.run_id, list(VENDORS))
            case "upto_batch" | "upto_deliver":
                word = action.word.removeprefix("upto_")
                self.runs.append(day.whole_run(self.world, house, action.kind, self._key(action), word))
            case "settle":
                house.settle()
            case "pause" | "resume":
                pauses.turn(house, action.word, action.kind)
            case "export" | "export_again" | "urgent" | "decide" | "restore" | "restore_end":
                errands.work(self.world, house, action, self._key(action))
            case "promotions":
                promotions.work(self.world, house, action.kind, self._key(action))
            case other:
                raise ValueError(other)

    def _go(self, action: Action, house: House) -> None:
        """Some steps of a run that was begun."""
        going = [run for run in self.runs if run.left]
        if going:
            run = going[action.number % len(going)]
            for _ in range(1 + action.seed % 4):
                day.go_on(self.world, house, run)

    def _together(self, action: Action) -> None:
        """Two processes at once: at each effect one of them goes on."""
        turns = Turns(action.seed)
        names = [f"worker {number}" for number in range(len(action.both))]
        turns.join(*names)
        wrong: list[BaseException] = []

        def work(name: str, what: Action) -> None:
            try:
                turns.wait(name)
                self._process(what, Seam(what.death, turns, name))
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

    def _quiet(self, told: _Told) -> None:
        """I3: the last fault is over."""
        world = self.world
        self.model.facts.note_faults()
        world.platform.faults()
        world.receive(up=True)
        world.erp.write()
        self.say(f"quiet +{world.clock.monotonic_s():.0f} s")
        with world.house(Seam()) as house:
            pauses.end_all(house)
            self._while_restored(house, told)
            errands.end_all(house)
            self._while_one_fails(house, told)
            self._rounds(house, "delta", 2, told)
            day.settle_down(world, house)
            for _ in range(2 * BUSY_ROUNDS_MAX):
                if self._passed_over():
                    self._rounds(house, "delta", 1, told)
                elif not self._open():
                    break
                day.settle_down(world, house)
            wrong = self._wrong()
            if not wrong:
                _expect(converged(world, may_be_rejected=True), "I3 by delta runs")
            self._rounds(house, "full", 1, told)
            for _ in range(BUSY_ROUNDS_MAX):  # each body whose link has died takes its deadline
                day.settle_down(world, house)
                if not self._open():
                    break
            lines = converged(world, may_be_rejected=False)
            if wrong:
                lines = [
                    line for line in lines if LEFT not in line
                ]  # a full sync does not repeat what has left the ERP
            _expect(lines, "I3 after a full run")
            _expect([f"job {row.job_id} is {row.state}" for row in self._open()], "I15")
            pictured = random.Random(f"picture {self.plan.seed}").random() < PICTURED
            if (
                pictured and not self.model.believed_too_early()
            ):  # what was said to be done and was not, it rightly heals
                errands.export(world, house, f"quiet/{world.clock.monotonic_s()}", (), errands.WORDS)
                self._verify(told)
                if wrong:  # what has left the ERP is not repeated by a full sync: a picture heals it
                    self._rounds(house, "delta", 1, told)
                    day.settle_down(world, house)
            if world.rows("SELECT 1 FROM ledger.hold WHERE state = 'open'"):
                self._rounds(house, "delta", 1, told)  # without what is refused, a slice may be small enough to pass
                day.settle_down(world, house)
            for _ in range(BUSY_ROUNDS_MAX):
                if not self._doubted():
                    break
                self._rounds(house, "delta", 1, told)
                day.settle_down(world, house)
            before = len(world.platform_rows("SELECT seq FROM job"))
            self._rounds(house, "delta", 1, told)
            if len(world.platform_rows("SELECT seq FROM job")) != before:
                raise Broken("I6", "a run without changes has sent something")
            self.promotions.quiet(house, self.say)

    def _open(self) -> list[Any]:
        return self.world.rows(
            "SELECT job_id, state FROM ledger.job WHERE state IN ('submitting', 'open', 'confirmed')"
        )

    def _passed_over(self) -> bool:
        """Whether the last run found a vendor busy with what an older one had planned."""
        last = "SELECT 1 FROM ledger.vendor_run WHERE state = 'busy' AND run_id = (SELECT max(run_id) FROM ledger.run)"
        return bool(self.world.rows(last))

    def _doubted(self) -> bool:
        """Whether a job of the last run ended unconfirmed, as where a link dies before anybody settles: it is rightly said again (I7)."""
        last = (
            "SELECT 1 FROM ledger.job JOIN ledger.batch USING (batch_id) WHERE ledger.job.state = 'unconfirmed'"
            " AND run_id = (SELECT max(run_id) FROM ledger.run)"
        )
        return bool(self.world.rows(last))

    def _wrong(self) -> bool:
        """Whether the platform differs although it said that all went well."""
        return self.model.facts.has_struck(*BY_CHANCE_WRONG) or self.model.believed_too_early()

    def _while_restored(self, house: House, told: _Told) -> None:
        """I3 while a restoration lasts: the platform equals what was acknowledged then."""
        in_force = [self.model.restorations.in_force(vendor) for vendor in VENDORS]
        if not any(in_force):
            return
        self._rounds(house, "delta", 2, told)
        day.settle_down(self.world, house)
        lasts = in_force == [self.model.restorations.in_force(vendor) for vendor in VENDORS]
        if lasts and not self._wrong() and not self.world.erp.coherent:
            wanted = self.model.restorations.wanted
            _expect(converged(self.world, may_be_rejected=True, restored=wanted), "I3 while restored")

    def _while_one_fails(self, house: House, told: _Told) -> None:
        """I10: while everything of one vendor fails, the other one comes into step by the same runs."""
        chance = random.Random(f"one fails {self.plan.seed}")
        if chance.random() >= ONE_FAILS:
            return
        first, second = VENDORS
        at, kind = chance.choice(OF_ONE_VENDOR)
        self._tick(chance, "")
        self.world.platform.faults({"at": at, "kind": kind, "vendor": first})
        self._rounds(house, "delta", 2, told)
        day.settle_down(self.world, house)
        self.model.facts.note_faults()
        self.world.platform.faults()
        if not self._wrong():
            lines = converged(self.world, may_be_rejected=True)
            _expect([line for line in lines if line.startswith(f"{second}/")], "I10")

    def _rounds(self, house: House, kind: str, rounds: int, told: _Told) -> None:
        for line in day.quiet_rounds(self.world, house, rounds, kind):
            self.say(f"      {line}")
        self._verify(told)


def _expect(lines: list[str], invariant: str) -> None:
    if lines:
        raise Broken(invariant, f"{len(lines)} differences, the first {lines[0]}")


def try_plan(world: World, of: Plan, say: Callable[[str], None] = lambda _: None) -> Verdict:
    """Does a plan and says what became of it."""
    verdict = Verdict(of.seed, actions=len(of.actions))
    began_s = time.monotonic()
    course = Course(world, of, say)
    with _quietly():
        try:
            course.run()
        except Broken as broken:
            verdict.broken, verdict.case = broken.invariant, str(broken)
        except Exception as error:  # noqa: BLE001  whatever it is, it is this seed's failure
            verdict.broken, verdict.case = type(error).__name__, _where(error)
    verdict.effects, verdict.deaths = course.effects, course.deaths
    verdict.seconds = time.monotonic() - began_s
    verdict.struck = course.model.facts.struck
    return verdict


def try_seed(world: World, seed: int, say: Callable[[str], None] = lambda _: None) -> Verdict:
    """A seed's own plan."""
    return try_plan(world, plan_of(world, seed), say)


def plan_of(world: World, seed: int, *, now: bool = True) -> Plan:
    """The plan of a number; not `now`: as it was before errands and switches were in it."""
    kinds = world.platform.control("GET", "faults")["kinds"]
    return plan(seed, kinds) if now else former(seed, kinds)


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
