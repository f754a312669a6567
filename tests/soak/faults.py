"""Faults of the platform in an order from a seed: every kind occurs before any kind occurs again."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

UNUSED = frozenset({"create_products", "categories"})
"""Places of the platform that shelfsync never calls."""
STATUSES = (400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504)
AT_ONCE_MAX = 3
VENDORS = tuple(f"store-00{number}" for number in range(1, 7))
SECONDS = {
    "never_answer": (2.0, 35.0),
    "refuse_connection": (0.0, 4.0),
    "slow_body": (1.0, 5.0),
    "late": (5.0, 60.0),
    "reordered": (5.0, 40.0),
}
"""How long what takes time takes, where the sandbox's own default is too long for a day in twenty minutes."""


def rules(seed: int, number: int, kinds: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The faults of turn `number`, from 0. `kinds`: what GET /_sandbox/faults lists."""
    chance = random.Random(f"{seed} faults {number}")
    order = turns(seed, len(kinds))
    count = chance.randint(1, AT_ONCE_MAX)
    first = sum(random.Random(f"{seed} faults {turn}").randint(1, AT_ONCE_MAX) for turn in range(number))
    return [_rule(chance, kinds[order[(first + step) % len(order)]]) for step in range(count)]


def turns(seed: int, kinds: int) -> list[int]:
    """In which order the kinds come."""
    return random.Random(f"{seed} kinds").sample(range(kinds), kinds)


def _rule(chance: random.Random, kind: dict[str, Any]) -> dict[str, Any]:
    name = str(kind["kind"])
    rule: dict[str, Any] = {
        "at": chance.choice([place for place in kind["at"] if place not in UNUSED]),
        "kind": name.replace("NNN", str(chance.choice(STATUSES))),
        "probability": round(chance.uniform(0.2, 0.9), 2),
    }
    if name in SECONDS:
        rule["seconds"] = round(chance.uniform(*SECONDS[name]), 1)
    if name == "not_applied" and rule["at"] == "job":
        rule["vendor"] = chance.choice(VENDORS)  # catalog jobs alone: nothing shows which promotions the platform has
    if name == "status_NNN" and chance.random() < 0.3:
        rule["retry_after"] = str(chance.randint(1, 20))
    return rule
