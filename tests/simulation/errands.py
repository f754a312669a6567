"""What a seed's people and the daily schedule ask for beside the syncs: exports, urgent runs, decided holds, restorations.

Drawn from a chance of its own and put between the other actions; each is done by the same calls as DAGs and command line make.
"""

from __future__ import annotations

import datetime as dt
import random
from functools import partial
from typing import TYPE_CHECKING, Any

from shelfsync.flow import hear_export, urgent, wait
from shelfsync.ledger import exports
from simulation import day
from simulation.erp import VENDORS
from simulation.plan import Action, _death, rules
from simulation.shape import KNOWN_SKUS, UNKNOWN_SKUS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shelfsync.ledger.exports import Export
    from shelfsync.wiring import House
    from simulation.world import World

PLACES = {"export": 6, "log": 4, "job": 2, "job_webhook": 2, "job_status": 2, "token": 1}
"""Where an export meets the platform."""
WORDS = ("export", "wait", "observe", "reconcile")
WHO = {"who": "ada", "why": "simulated"}
LOOKS_MAX = 500


def actions_of(seed: int, length: int, kinds: Sequence[dict[str, Any]]) -> list[tuple[int, Action]]:
    """Some scenes, each with the place before which it is done."""
    chance = random.Random(f"errands {seed}")
    found: list[tuple[int, Action]] = []
    for _ in range(chance.choice((1, 2, 2, 3))):
        place = chance.randint(2, length)
        scene = chance.choices((_export, _urgent, _hold, _restoration), (5, 2, 3, 2))[0]
        found += [(place, action) for action in scene(chance, kinds)]
    return sorted(found, key=lambda one: one[0])


def _export(chance: random.Random, kinds: Sequence[dict[str, Any]]) -> list[Action]:
    """A picture is asked for, often with faults, perhaps while a sync works, and perhaps once more under the same name."""
    scene = []
    if chance.random() < 0.5:
        scene.append(Action("tick", chance.getrandbits(32)))
    if chance.random() < 0.6:
        chosen = rules(chance, kinds, PLACES, range(1, 4))
        scene.append(Action("faults", chance.getrandbits(32), rules=chosen))
    death = _death(chance) if chance.random() < 0.4 else None
    who = chance.choice(("all", "all", *VENDORS))
    steps = chance.choice((4, 4, 4, 1, 3))
    asked = Action("export", chance.getrandbits(32), kind=who, number=steps, death=death)
    if chance.random() < 0.3:
        other = Action("run", chance.getrandbits(32), kind="delta")
        asked = Action("together", chance.getrandbits(32), both=(asked, other))
    scene.append(asked)
    if chance.random() < 0.6:
        if chance.random() < 0.5:
            scene.append(Action("calm", chance.getrandbits(32)))
        scene.append(Action("export_again", chance.getrandbits(32), number=4))
    return scene


def _urgent(chance: random.Random, _: Sequence[dict[str, Any]]) -> list[Action]:
    skus = chance.sample((*KNOWN_SKUS, UNKNOWN_SKUS[0]), chance.randint(1, 3))
    death = _death(chance) if chance.random() < 0.3 else None
    kind = " ".join((chance.choice(VENDORS), *skus))
    return [Action("tick", chance.getrandbits(32)), Action("urgent", chance.getrandbits(32), kind=kind, death=death)]


def _hold(chance: random.Random, _: Sequence[dict[str, Any]]) -> list[Action]:
    """An accident that a guard holds, and a person's word about it, at once, after more has changed, or from a page."""
    accident = Action("slip", chance.getrandbits(32), kind=chance.choice(VENDORS))
    if chance.random() < 0.4:
        accident = Action("erp", chance.getrandbits(32), kind="half")
    upto = chance.choice(("run", "run", "upto_batch"))
    scene = [accident, Action(upto, chance.getrandbits(32), kind="delta")]
    if chance.random() < 0.3:
        scene.append(Action("tick", chance.getrandbits(32)))
    death = _death(chance) if chance.random() < 0.3 else None
    word = chance.choice(("approve", "approve", "approve_only", "reject"))
    scene.append(Action("decide", chance.getrandbits(32), kind=word, number=chance.randint(0, 2), death=death))
    if word == "approve_only" or chance.random() < 0.3:
        scene.append(Action("settle", chance.getrandbits(32)))
    return scene


def _restoration(chance: random.Random, _: Sequence[dict[str, Any]]) -> list[Action]:
    vendor = chance.choice(VENDORS)
    death = _death(chance) if chance.random() < 0.2 else None
    span_s = chance.choice((3600, 86_400, 30 * 86_400))
    scene = [
        Action("tick", chance.getrandbits(32), kind="all"),
        Action("run", chance.getrandbits(32), kind="delta"),
        Action("restore", chance.getrandbits(32), kind=vendor, number=chance.randint(1, 3), seconds=span_s),
        Action("run", chance.getrandbits(32), kind=chance.choice(("delta", "delta", "full")), death=death),
    ]
    if chance.random() < 0.5:
        scene.append(Action("tick", chance.getrandbits(32)))
        scene.append(Action("run", chance.getrandbits(32), kind="delta"))
    if chance.random() < 0.5:
        scene.append(Action("restore_end", chance.getrandbits(32), kind=vendor))
    return scene


def work(world: World, house: House, action: Action, key: str) -> None:
    """What a process does for one of these words."""
    match action.word:
        case "export":
            export(world, house, key, () if action.kind == "all" else (action.kind,), WORDS[: action.number])
        case "export_again":
            known = world.rows("SELECT run_key FROM ledger.export ORDER BY export_id DESC LIMIT 1")
            for row in known:
                names = world.rows("SELECT vendor FROM ledger.export WHERE run_key = :k", k=row.run_key)
                export(world, house, row.run_key, tuple(sorted(one.vendor for one in names)), WORDS)
        case "urgent":
            vendor, *skus = action.kind.split()
            urgent_run(world, house, key, vendor, tuple(skus))
        case "decide":
            decide(world, house, action)
        case "restore":
            restore(world, house, action)
        case "restore_end":
            house.end_restoration(action.kind, who=WHO["who"])
        case other:
            raise ValueError(other)


def export(world: World, house: House, key: str, vendors: tuple[str, ...], words: Sequence[str]) -> None:
    """An export run as its DAG does it; a step that fails is tried once more."""
    shards = house.plan_exports(key, vendors)
    for shard in shards:
        names = list(shard["vendors"])
        for word in words:
            if word == "wait":
                until_exported(world, house, key, names)
                continue
            step = partial(house.export_step, word, key, names)
            try:
                step()
            except day.EXPECTED:
                world.clock.sleep(60)
                step()
    house.report_exports(key)


def until_exported(world: World, house: House, key: str, names: list[str]) -> None:
    """The wait of flow.hear_export with virtual pauses."""
    parts = house.parts

    def left() -> list[Export]:
        with parts.engine.connect() as connection:
            found = exports.of_run(connection, key, names)
        return [
            one for one in found if one.state == "open" and not one.overdue and not hear_export.known(parts, one).ended
        ]

    def ask(one: Export) -> None:
        try:
            hear_export.ask(parts, one)
        except day.EXPECTED:
            hear_export.later(parts, one, status=one.platform_status)

    _until_none(world, left, ask, parts.settings.export.deadline_s, f"the wait of export run {key}")


def urgent_run(world: World, house: House, key: str, vendor: str, skus: tuple[str, ...]) -> None:
    """`shelfsync sync --vendor VENDOR --sku SKU`: the way is cleared, what is left behind is settled, then the path."""
    house.check((vendor,))
    left = partial(urgent._open, house.parts, (vendor,))
    _until_none(world, left, partial(wait.ask, house.parts), urgent.PATIENCE_S, f"clearing the way of {vendor}")
    house.settle()
    run_id = house.open_run("delta", key, (vendor,), skus=skus)
    for shard in house.extract(run_id):
        for word in (*day.STEPS, *day.ROUND):
            day.take(world, house, word, run_id, list(shard["vendors"]))
    house.report(run_id)


def _until_none(
    world: World, left: Callable[[], list[Any]], ask: Callable[[Any], None], deadline_s: float, what: str
) -> None:
    """flow.wait.until_none with virtual pauses."""
    end_s = world.clock.monotonic_s() + deadline_s + wait.GRACE_S
    for _ in range(LOOKS_MAX):
        found = left()
        if not found or world.clock.monotonic_s() >= end_s:
            return
        due = [one for one in found if one.poll_due]
        for one in due:
            ask(one)
        if not due:
            world.clock.sleep(min([wait.LOOK_AGAIN_S, *(max(0.1, min(one.wait_s, one.left_s)) for one in found)]))
    raise AssertionError(f"I15: {what} has not ended after {LOOKS_MAX} looks")


def decide(world: World, house: House, action: Action) -> None:
    """A person's word about one of the open holds, and the way of what was approved to the platform."""
    found = world.rows("SELECT hold_id FROM ledger.hold WHERE state = 'open' ORDER BY hold_id DESC")
    if not found:
        return
    hold_id = found[action.number % len(found)].hold_id
    house.holds.decide(hold_id, approve=action.kind != "reject", **WHO)
    if action.kind != "approve":
        return
    told = house.holds.release(hold_id)
    for word in ("deliver", "wait", "confirm", "acknowledge") if told["vendors"] else ():
        day.take(world, house, word, told["run"], told["vendors"])


def restore(world: World, house: House, action: Action) -> None:
    """Some acknowledged state of before is wanted again, of all SKUs or of some."""
    versions = world.rows(
        "SELECT created_at FROM ledger.baseline WHERE vendor = :v ORDER BY version DESC OFFSET :n LIMIT 1",
        v=action.kind,
        n=action.number,
    )
    chance = random.Random(action.seed)
    for row in versions:
        known = world.rows("SELECT sku FROM warehouse.baseline WHERE vendor = :v ORDER BY sku", v=action.kind)
        skus = [one.sku for one in known if chance.random() < 0.4] if chance.random() < 0.5 else None
        if skus == []:
            return
        span = dt.timedelta(seconds=action.seconds)
        house.restore(action.kind, at=row.created_at, span=span, skus=skus, dry_run=False, **WHO)


def end_all(house: House) -> None:
    """The ERP counts again everywhere."""
    for vendor in VENDORS:
        house.end_restoration(vendor, who=WHO["who"])
