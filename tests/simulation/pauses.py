"""When the operators of a seed stop and resume sending: drawn from a separate generator, inserted between the other actions."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from simulation.erp import VENDORS
from simulation.plan import Action, _death

if TYPE_CHECKING:
    from app_calls import Calls

WHO = {"who": "ada", "why": "simulated"}


def actions_of(seed: int, length: int) -> list[tuple[int, Action]]:
    """Pauses and, a little later if at all, their ends, each with the place before which it is done.

    Most come while a run has planned its bodies or sent the first of them, which is where a switch has something to stop.
    """
    chance = random.Random(f"pauses {seed}")
    found = []
    for _ in range(chance.choice((0, 1, 1, 2))):
        place = chance.randint(2, length)
        what = chance.choice((*VENDORS, *VENDORS, "all", "chain"))
        if chance.random() < 0.7:
            upto = chance.choice(("batch", "deliver", "deliver"))
            found += [(place, Action("tick", chance.getrandbits(32))), (place, _as_far_as(chance, upto))]
        found.append((place, _turn(chance, "pause", what)))
        if chance.random() < 0.9:  # otherwise the convergence at the end resumes it
            found.append((min(place + chance.choice((0, 0, 1, 3)), length), _turn(chance, "resume", what)))
    return sorted(found, key=lambda one: one[0])


def turn(app: Calls, verb: str, what: str) -> None:
    """Turns the switch of a vendor, of the chain or of all."""
    scope, vendor = (what, None) if what in {"all", "chain"} else ("vendor", what)
    if verb == "pause":
        app.pause(scope, vendor, anyway=True, **WHO)
    else:
        app.resume(scope, vendor, **WHO)


def end_all(app: Calls) -> None:
    """Lets everything go on."""
    for what in (*VENDORS, "chain", "all"):
        turn(app, "resume", what)


def _turn(chance: random.Random, verb: str, what: str) -> Action:
    death = _death(chance) if chance.random() < 0.2 else None
    return Action(verb, chance.getrandbits(32), kind=what, death=death)


def _as_far_as(chance: random.Random, verb: str) -> Action:
    return Action(f"upto_{verb}", chance.getrandbits(32), kind=chance.choice(("full", "delta", "delta")))
