"""The actions of a seed about promotions: drawn from a separate generator and inserted between the other actions, which do not change."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from simulation.plan import Action, _death, rules

if TYPE_CHECKING:
    from collections.abc import Sequence

PLACES = {"put_promotion": 6, "promotion_status": 4, "job": 3, "token": 1}


def actions_of(seed: int, length: int, kinds: Sequence[dict[str, Any]]) -> list[tuple[int, Action]]:
    """What a seed does about promotions, each with the place before which it is done."""
    chance = random.Random(f"promotions {seed}")
    found = []
    for _ in range(chance.randint(3, 6)):
        place = chance.randint(2, length)
        if chance.random() < 0.8:
            found.append((place, Action("campaigns", chance.getrandbits(32))))
        if chance.random() < 0.5:
            found.append(
                (place, Action("faults", chance.getrandbits(32), rules=rules(chance, kinds, PLACES, range(1, 5))))
            )
        found.append((place, worker(chance)))
    return sorted(found, key=lambda one: one[0])


def worker(chance: random.Random) -> Action:
    """Something that a process does about promotions, and perhaps dies of."""
    kind = chance.choices(("run", "recover", "begin", "deliver", "confirm", "both"), (8, 3, 2, 1, 1, 2))[0]
    if kind == "both":
        return Action(
            "together",
            chance.getrandbits(32),
            both=(_alone(chance, "run"), _alone(chance, chance.choice(("run", "recover")))),
        )
    return _alone(chance, kind)


def _alone(chance: random.Random, kind: str) -> Action:
    death = _death(chance) if chance.random() < 0.4 else None
    return Action("promotions", chance.getrandbits(32), kind=kind, death=death)
