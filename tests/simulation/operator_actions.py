"""Operator actions and the daily schedule of a seed beside the syncs: exports, urgent runs, decided holds, restorations.

Drawn from a chance of its own and put between the other actions; each is done by the same calls as DAGs and command line make.
"""

from __future__ import annotations

import datetime as dt
import random
from functools import partial
from typing import TYPE_CHECKING, Any

from simulation import day
from simulation.erp import VENDORS
from simulation.plan import Action, _death, rules
from simulation.shape import KNOWN_SKUS, UNKNOWN_SKUS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app_calls import Calls
    from simulation.world import World

PLACES = {"export": 6, "log": 4, "job": 2, "job_webhook": 2, "job_status": 2, "token": 1}
"""Where an export meets the platform."""
STEPS = ("export", "wait", "observe", "reconcile")
WHO = {"who": "ada", "why": "simulated"}


def actions_of(seed: int, length: int, kinds: Sequence[dict[str, Any]]) -> list[tuple[int, Action]]:
    """Some scenes, each with the place before which it is done."""
    # The text of a chance is part of every recorded seed: it stays as it is.
    chance = random.Random(f"errands {seed}")
    found: list[tuple[int, Action]] = []
    for _ in range(chance.choice((1, 2, 2, 3))):
        place = chance.randint(2, length)
        scene = chance.choices((_export, _urgent, _hold, _restoration), (5, 2, 3, 2))[0]
        found += [(place, action) for action in scene(chance, kinds)]
    return sorted(found, key=lambda pair: pair[0])


def _export(chance: random.Random, kinds: Sequence[dict[str, Any]]) -> list[Action]:
    """An export, often with faults, perhaps during a sync, and perhaps repeated under the same key."""
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
    """An accident that a guard holds, and an operator's decision: at once, after further changes, or from a page."""
    accident = Action("slip", chance.getrandbits(32), kind=chance.choice(VENDORS))
    if chance.random() < 0.4:
        accident = Action("erp", chance.getrandbits(32), kind="half")
    upto = chance.choice(("run", "run", "upto_batch"))
    scene = [accident, Action(upto, chance.getrandbits(32), kind="delta")]
    if chance.random() < 0.3:
        scene.append(Action("tick", chance.getrandbits(32)))
    death = _death(chance) if chance.random() < 0.3 else None
    decision = chance.choice(("approve", "approve", "approve_only", "decline"))
    scene.append(Action("decide", chance.getrandbits(32), kind=decision, number=chance.randint(0, 2), death=death))
    if decision == "approve_only" or chance.random() < 0.3:
        scene.append(Action("recover", chance.getrandbits(32)))
    # of a chance of its own, so that the rest of every recorded seed stays as it is
    return scene + _elsewhere(random.Random(f"elsewhere {decision} {scene[-1].seed}"), decision)


def _elsewhere(chance: random.Random, decision: str) -> list[Action]:
    """Answers about the same hold in other places: a stale one, the contrary one, both at once, and a reopening."""
    scene: list[Action] = []
    for _ in range(chance.choice((0, 1, 2, 3))):
        kind = chance.choice(("stale approve", "stale decline", "late approve", "late decline", "reopen", decision))
        act = Action("decide", chance.getrandbits(32), kind=kind, number=chance.randint(0, 2))
        if chance.random() < 0.3:
            other = Action("decide", chance.getrandbits(32), kind=chance.choice(("approve", "decline")))
            act = Action("together", chance.getrandbits(32), both=(act, other))
        scene.append(act)
        if chance.random() < 0.3:
            scene.append(Action("run", chance.getrandbits(32), kind="delta"))
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


def work(world: World, app: Calls, action: Action, key: str) -> None:
    """What a process does for one of these verbs."""
    match action.verb:
        case "export":
            export(world, app, key, () if action.kind == "all" else (action.kind,), STEPS[: action.number])
        case "export_again":
            known = world.rows("SELECT run_key FROM ledger.export ORDER BY export_id DESC LIMIT 1")
            for row in known:
                names = world.rows("SELECT vendor FROM ledger.export WHERE run_key = :k", k=row.run_key)
                export(world, app, row.run_key, tuple(sorted(row.vendor for row in names)), STEPS)
        case "urgent":
            vendor, *skus = action.kind.split()
            urgent_run(app, key, vendor, tuple(skus))
        case "decide":
            decide(world, app, action)
        case "restore":
            restore(world, app, action)
        case "restore_end":
            app.end_restoration(action.kind, who=WHO["who"])
        case other:
            raise ValueError(other)


def export(world: World, app: Calls, key: str, vendors: tuple[str, ...], steps: Sequence[str]) -> None:
    """An export run as its DAG does it; a step that fails is tried once more."""
    shards = app.plan_exports(key, vendors)
    for shard in shards:
        names = list(shard["vendors"])
        for name in steps:
            if name == "wait":
                app.wait_exports(key, names)
                continue
            step = partial(app.export_step, name, key, names)
            try:
                step()
            except day.EXPECTED:
                world.clock.sleep(60)
                step()
    app.report_exports(key)


def urgent_run(app: Calls, key: str, vendor: str, skus: tuple[str, ...]) -> None:
    """`shelfsync sync --vendor VENDOR --sku SKU`: ends what blocks it, recovers, then runs the steps."""
    app.check((vendor,))
    app.clear_the_way((vendor,))
    app.recover()
    run_id = app.open_run("delta", key, (vendor,), skus=skus)
    for shard in app.extract(run_id):
        for step in day.STEPS:
            day.take(app, step, run_id, list(shard["vendors"]))
    app.report(run_id)


def decide(world: World, app: Calls, action: Action) -> None:
    """Decides one of the open holds, and sends what was approved; or answers about a hold that was decided elsewhere, or reopens one."""
    place, _, answer = action.kind.rpartition(" ")
    decided = bool(place) or answer == "reopen"
    of_catalog = "SELECT hold_id FROM ledger.hold WHERE subject = 'catalog'"
    found = world.rows(f"{of_catalog} AND (state <> 'open') = {decided} ORDER BY hold_id DESC")
    if not found:
        return
    hold_id = found[action.number % len(found)].hold_id
    if answer == "reopen":
        app.holds.reopen(hold_id, **WHO)
        return
    if decided:
        stale = {"shown": "what it was before"} if place == "stale" else {}
        app.holds.decide(hold_id, approve=answer == "approve", **WHO, **stale)
        return
    app.holds.decide(hold_id, approve=answer != "decline", **WHO)
    if answer != "approve":
        return
    released = app.holds.release(hold_id)
    for step in ("deliver", "wait", "confirm", "acknowledge") if released["vendors"] else ():
        day.take(app, step, released["run"], released["vendors"])


def restore(world: World, app: Calls, action: Action) -> None:
    """Some acknowledged state of before is wanted again, of all SKUs or of some."""
    versions = world.rows(
        "SELECT created_at FROM ledger.baseline WHERE vendor = :v ORDER BY version DESC OFFSET :n LIMIT 1",
        v=action.kind,
        n=action.number,
    )
    chance = random.Random(action.seed)
    for row in versions:
        known = world.rows("SELECT sku FROM warehouse.baseline WHERE vendor = :v ORDER BY sku", v=action.kind)
        skus = [row.sku for row in known if chance.random() < 0.4] if chance.random() < 0.5 else None
        if skus == []:
            return
        span = dt.timedelta(seconds=action.seconds)
        app.restore(action.kind, at=row.created_at, span=span, skus=skus, dry_run=False, **WHO)


def end_all(app: Calls) -> None:
    """Ends every restoration."""
    for vendor in VENDORS:
        app.end_restoration(vendor, who=WHO["who"])
