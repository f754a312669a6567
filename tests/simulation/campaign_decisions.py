"""What persons decide about held campaigns in a seed: drawn from a separate generator, inserted between the other actions."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from shelfsync.decisions.state import Place
from simulation.answers import PLACES
from simulation.plan import Action, _death

if TYPE_CHECKING:
    from app_calls import Calls
    from simulation.world import World

SHARE = 0.5
"""In so many seeds the guard of campaigns has a threshold below 1."""
DECIDE = ("approve", "decline")
OF_CAMPAIGNS = (
    "SELECT hold_id, state FROM ledger.hold WHERE subject = 'promotions' AND superseded_by IS NULL"
    " AND state IN ({}) ORDER BY hold_id DESC"
)
UNDECIDED, DECIDED = "'open', 'expired'", "'approved', 'declined', 'expired'"


def guarded(seed: int) -> bool:
    """Whether campaigns of this seed can be held."""
    return random.Random(f"campaigns held {seed}").random() < SHARE


def actions_of(seed: int, length: int) -> list[tuple[int, Action]]:
    """A reduction by far too much, the run that holds it, and the answers of persons who see it in several places."""
    if not guarded(seed):
        return []
    chance = random.Random(f"campaign decisions {seed}")
    found: list[tuple[int, Action]] = []
    for _ in range(chance.choice((1, 1, 2))):
        place = chance.randint(2, length)
        found += [(place, action) for action in _scene(chance)]
    return sorted(found, key=lambda pair: pair[0])


def _scene(chance: random.Random) -> list[Action]:
    scene = [Action("campaigns", chance.getrandbits(32), kind="slip"), _run(chance)]
    scene += [_answer(chance, "look") for _ in range(chance.choice((0, 1, 1, 2)))]
    for _ in range(chance.choice((1, 2, 3, 4))):
        what = chance.choices((*DECIDE, "old approve", "old decline", "reopen"), (4, 4, 3, 1, 4))[0]
        act = _answer(chance, what)
        if chance.random() < 0.25:
            other = chance.choice((_answer(chance, chance.choice(DECIDE)), _run(chance)))
            act = Action("together", chance.getrandbits(32), both=(act, other))
        scene.append(act)
        more = chance.random()
        if more < 0.35:
            scene.append(_run(chance))
        elif more < 0.45:
            scene.append(Action("time", chance.getrandbits(32), seconds=chance.choice((900, 90_000))))
        elif more < 0.55:
            scene.append(Action("campaigns", chance.getrandbits(32), kind=chance.choice(("", "slip"))))
        elif more < 0.65:
            scene.append(_answer(chance, "look"))
    return [*scene, _run(chance)]


def _run(chance: random.Random) -> Action:
    return Action(
        "promotions", chance.getrandbits(32), kind="run", death=_death(chance) if chance.random() < 0.1 else None
    )


def _answer(chance: random.Random, what: str) -> Action:
    death = _death(chance) if chance.random() < 0.15 else None
    place = chance.choice(PLACES)
    kind = what if what == "reopen" or what.startswith("old ") else f"{what} on the {place}"
    return Action("campaign_hold", chance.getrandbits(32), kind=kind, number=chance.randint(0, 3), death=death)


def work(world: World, app: Calls, action: Action) -> None:
    """A person looks at a held campaign, answers about it, or opens it again."""
    who, answers = f"person {action.seed}", world.answers
    what, _, place = action.kind.partition(" on the ")
    approve = what.endswith("approve")
    if what.startswith("old "):
        if answers.seen:
            answers.give(app, answers.seen[action.number % len(answers.seen)], approve=approve, who=who)
        return
    # Most persons look at what is open. A page also shows what is decided, and takes an answer about it.
    some = DECIDED if what == "reopen" or random.Random(action.seed).random() < 0.2 else UNDECIDED
    found = world.rows(OF_CAMPAIGNS.format(some))
    if not found:
        return
    hold_id = found[action.number % len(found)].hold_id
    if what == "reopen":
        app.holds.reopen(hold_id, who=who, why="simulated")
        return
    seen = answers.see(app, hold_id, Place(place), f"question {action.seed}")
    if what == "look":
        answers.seen.append(seen)
    else:
        answers.give(app, seen, approve=approve, who=who)


def approve_all(world: World, app: Calls) -> int:
    """A person opens every campaign's hold again that is not sent, and approves it; returns how many."""
    left = world.rows(OF_CAMPAIGNS.format("'open', 'declined', 'expired'"))
    for row in left:
        who = f"the last person about {row.hold_id}"
        if row.state != "open":
            app.holds.reopen(row.hold_id, who=who, why="simulated")
        world.answers.give(app, world.answers.see(app, row.hold_id, PLACES[0], who), approve=True, who=f"{who}, later")
    return len(left)
