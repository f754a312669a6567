"""The events of a soak and their times, from the seed alone."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VICTIMS = (
    "receiver", "triggerer", "task", "worker", "store-hub", "dag-processor", "api-server", "scheduler", "postgres",
)  # fmt: skip
"""Every process of the installation; the platform's, the ERP's and the supervisor's are not among them."""
EVERY_S = {
    "chain": {
        "till": 60.0,
        "price": 25.0,
        "limit": 60.0,
        "close": 240.0,
        "begin_campaign": 60.0,
        "change_campaign": 60.0,
        "end_campaign": 120.0,
        "order": 20.0,
        "cancel_order": 60.0,
    },
    "platform": {"faults": 30.0, "edit_in_portal": 60.0, "slow_jobs": 120.0},
    "operator": {"decide": 25.0},
    "second_chain": {"second_chain": 30.0},
    "kills": {"kill": 40.0},
}
"""Actor -> action -> seconds between two of them. The actions of one actor never run side by side."""
CLOSED_S = (60.0, 150.0)
"""How long a store is closed."""
FIRST_S = 5.0


@dataclass(frozen=True, order=True)
class Event:
    """`number` and the seed of the plan give the chance of the event; `subject` is what the plan itself chose for it."""

    at_s: float
    actor: str
    action: str
    number: int
    subject: str = ""

    def chance(self, seed: int) -> random.Random:
        """All that is random inside the event."""
        return random.Random(f"{seed} {self.action} {self.number}")


def plan(seed: int, minutes: float, victims: Sequence[str] = VICTIMS) -> list[Event]:
    """The events of so many minutes in the order of time. What is closed opens again before the end."""
    chance, length_s = random.Random(f"plan {seed}"), minutes * 60
    found = [
        Event(at_s, actor, action, number)
        for actor, actions in EVERY_S.items()
        for action, every_s in actions.items()
        for number, at_s in enumerate(_times(chance, every_s, length_s))
    ]
    found = [event for event in found if event.action != "kill"] + _kills(chance, length_s, victims)
    closings = [event for event in found if event.action == "close"]
    for event in closings:
        again_s = min(event.at_s + chance.uniform(*CLOSED_S), length_s - 1)
        found.append(Event(again_s, event.actor, "open", event.number))
    return sorted(found)


def _times(chance: random.Random, every_s: float, length_s: float) -> Iterator[float]:
    at_s = FIRST_S + chance.uniform(0, every_s)
    while at_s < length_s:
        yield at_s
        at_s += chance.uniform(0.5, 1.5) * every_s


def _kills(chance: random.Random, length_s: float, victims: Sequence[str]) -> list[Event]:
    """Each victim is killed once before any is killed twice."""
    times, turn, found = list(_times(chance, EVERY_S["kills"]["kill"], length_s)), list[str](), list[Event]()
    for number, at_s in enumerate(times if victims else ()):
        turn = turn or chance.sample(list(victims), len(victims))
        found.append(Event(at_s, "kills", "kill", number, turn.pop()))
    return found
