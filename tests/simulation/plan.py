"""From a seed to a world and a list of actions. Each action carries all it needs, so that any of them can be left out."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulation.day import STEPS
from simulation.erp import DAMAGES, VENDORS
from simulation.fault_point import KINDS, Death
from simulation.shape import UNKNOWN_SKUS, Shape, switched

if TYPE_CHECKING:
    from collections.abc import Sequence

OPERATIONS = {
    "put_catalog": 5,
    "log": 5,
    "job": 4,
    "job_webhook": 4,
    "job_status": 3,
    "token": 2,
    "outlet_status": 1,
    "list_catalog": 1,
}
"""The operations that shelfsync calls, with the weight of faults in each."""
STATUSES = (400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504)
RETRY_AFTER = (None, "1", "90", "1000000000", "-5", "soon")
SECONDS_REAL = 0.02
"""Faults that take machine time take next to none."""


@dataclass(frozen=True)
class Action:
    """A verb and its arguments; `seed` is the action's own chance."""

    verb: str
    seed: int
    kind: str = ""
    number: int = 0
    seconds: float = 0.0
    death: Death | None = None
    rules: tuple[Any, ...] = ()
    both: tuple[Action, ...] = ()

    def __str__(self) -> str:
        parts = [self.verb, self.kind, str(self.number) if self.verb in {"step", "go"} else ""]
        parts.append(f"{self.seconds:g} s" if self.seconds else "")
        parts += [f"[{one}]" for one in self.both]
        parts += [f"{rule['at']}/{rule['kind']}" for rule in map(dict, self.rules)]
        if self.death is not None:
            when = "before" if self.death.before else "after"
            parts.append(f"dies {when} {self.death.kind} {self.death.nth}")
        return " ".join(part for part in parts if part)


@dataclass(frozen=True)
class Plan:
    """One seed's world and what happens in it."""

    seed: int
    shape: Shape
    actions: tuple[Action, ...]


def plan(seed: int, kinds: Sequence[dict[str, Any]]) -> Plan:
    """The plan of a seed; `kinds` is what the sandbox lists of its faults."""
    from simulation.campaign_decisions import actions_of as campaign_decisions
    from simulation.campaign_decisions import guarded
    from simulation.operator_actions import actions_of as operator_actions
    from simulation.two_chains import actions_of as second_chain

    of = former(seed, kinds)
    actions = list(of.actions)
    for place, action in reversed(campaign_decisions(seed, len(actions))):
        actions.insert(place, action)
    for place, action in reversed(operator_actions(seed, len(actions), kinds)):
        actions.insert(place, action)
    for place, action in reversed(second_chain(seed, len(actions))):
        actions.insert(place, action)
    shape = dataclasses.replace(
        of.shape,
        key=random.Random(f"key {seed}").choice(("sku", "sku", "barcode")),
        switches=switched(seed),
        static_token=random.Random(f"token {seed}").random() < 0.2,
        campaigns_guarded=guarded(seed),
        vendors_per_shard=random.Random(f"shards {seed}").choice((1, 2)),
    )
    return Plan(seed, shape, tuple(actions))


def former(seed: int, kinds: Sequence[dict[str, Any]]) -> Plan:
    """The plan as it was before exports, holds, restorations, switches and barcodes: a recorded seed still finds what it found then."""
    chance = random.Random(f"plan {seed}")
    shape = Shape(
        dialect=chance.choice(("spec", "spec", "spec", "live", "legacy")),
        job_seconds=chance.choice((1.0, 5.0, 40.0, 400.0)),
        webhook=chance.random() < 0.7,
        body_max_bytes=chance.choice((100_000, 100_000, 100_000, 420)),
        priority_split_skus=random.Random(f"together {seed}").choice((1000, 3, 0)),
        buffer_known=random.Random(f"buffer {seed}").random() < 0.6,
    )
    actions = [Action("tick", chance.getrandbits(32), kind="all"), Action("run", chance.getrandbits(32), kind="full")]
    for _ in range(chance.randint(6, 16)):
        actions += _scene(chance, kinds)
    from simulation.pauses import actions_of as pauses  # both are made of this file's actions
    from simulation.promotion_plan import actions_of as promotion_actions

    for place, action in reversed(promotion_actions(seed, len(actions), kinds)):
        actions.insert(place, action)
    for place, action in reversed(pauses(seed, len(actions))):
        actions.insert(place, action)
    return Plan(seed, shape, tuple(actions))


def _scene(chance: random.Random, kinds: Sequence[dict[str, Any]]) -> list[Action]:
    """One action. Before a run, the ERP often changes and faults are sometimes set; otherwise the run would have no work."""
    action = _action(chance, kinds)
    before = []
    if action.verb in {"run", "begin", "together"}:
        if chance.random() < 0.7:
            before.append(Action("tick", chance.getrandbits(32)))
        if chance.random() < 0.6:
            before.append(Action("faults", chance.getrandbits(32), rules=faults(chance, kinds)))
    return [*before, action]


def _action(chance: random.Random, kinds: Sequence[dict[str, Any]]) -> Action:
    seed = chance.getrandbits(32)
    verb = chance.choices(
        (
            "tick",
            "run",
            "begin",
            "go",
            "step",
            "recover",
            "time",
            "faults",
            "calm",
            "erp",
            "together",
            "receiver",
            "appear",
        ),
        (6, 30, 8, 14, 5, 10, 10, 5, 2, 5, 12, 2, 2),
    )[0]
    if verb in {"run", "begin", "recover", "go", "step"}:
        return _worker(chance, verb)
    more: dict[str, Any] = {}
    if verb == "together":
        more["both"] = tuple(_worker(chance) for _ in range(2))
    elif verb == "time":
        more["seconds"] = chance.choice((5, 60, 900, 2000, 8000, 90_000))
    elif verb == "faults":
        more["rules"] = faults(chance, kinds)
    elif verb == "erp":
        more["kind"] = chance.choice(DAMAGES)
    elif verb == "receiver":
        more["kind"] = chance.choice(("up", "down"))
    elif verb == "appear":
        more["kind"] = f"{chance.choice(VENDORS)} {chance.choice(UNKNOWN_SKUS)}"
    return Action(verb, seed, **more)


def _worker(chance: random.Random, verb: str = "") -> Action:
    """Something a process of shelfsync does, and perhaps dies of."""
    seed = chance.getrandbits(32)
    verb = verb or chance.choice(("run", "run", "recover", "go", "go", "step"))
    kind = ""
    if verb in {"run", "begin"}:
        kind = "full" if chance.random() < 0.2 else "delta"
    elif verb == "step":
        kind = chance.choice(STEPS)
    death = _death(chance) if chance.random() < 0.4 else None
    return Action(verb, seed, kind=kind, number=chance.randint(0, 5), death=death)


def _death(chance: random.Random) -> Death:
    kind = chance.choice((*KINDS, "any"))
    most = {"commit": 36, "request": 5, "rename": 9, "any": 45}[kind]
    return Death(chance.randint(1, most), chance.random() < 0.5, kind)


def faults(chance: random.Random, kinds: Sequence[dict[str, Any]]) -> tuple[Any, ...]:
    """Some rules among all that can strike shelfsync, each with its own likelihood."""
    return rules(chance, kinds, OPERATIONS, range(2, 7))


def rules(
    chance: random.Random, kinds: Sequence[dict[str, Any]], weights: dict[str, int], how_many: range
) -> tuple[Any, ...]:
    """So many rules at these places, by their weights; a place that no kind of fault can strike is left out."""
    known = {at: [kind["kind"] for kind in kinds if at in kind["at"]] for at in weights}
    able = [at for at in weights if known[at]]
    places = chance.choices(able, [weights[at] for at in able], k=chance.choice(how_many))
    chosen = [(at, chance.choice(known[at])) for at in places]
    return tuple(tuple(sorted(_rule(chance, at, kind).items())) for at, kind in chosen)


def _rule(chance: random.Random, at: str, kind: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"at": at, "kind": kind, "probability": chance.choice((0.1, 0.3, 0.6, 1.0))}
    if chance.random() < 0.5:
        rule["times"] = chance.randint(1, 3)
    if kind == "status_NNN":
        rule["kind"] = f"status_{chance.choice(STATUSES)}"
        after = chance.choice(RETRY_AFTER)
        if after is not None:
            rule["retry_after"] = after
    if kind in {"never_answer", "slow_body"}:
        rule["seconds"] = SECONDS_REAL
    if kind == "drip":
        rule["seconds"] = 0.0  # the pauses would be real ones, minutes for a log
    if kind == "late":
        rule["seconds"] = chance.choice((30.0, 600.0, 5000.0))
    if kind == "oversized":
        rule["bytes"] = 100_000
    if kind == "portal_edit":
        rule["price"] = 9000.5
    if kind == "truncated" and chance.random() < 0.5:
        rule["bytes"] = chance.randint(0, 200)
    return rule
