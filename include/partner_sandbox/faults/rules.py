"""Rules say where, what, how likely and how often; a seed says when. Same seed and same calls, same faults."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from partner_sandbox.faults.kinds import describe, plain, why_not

if TYPE_CHECKING:
    from collections.abc import Callable


class Rule(BaseModel):
    """One fault. `after` occasions pass first; then each is struck with `probability`, at most `times` times."""

    model_config = ConfigDict(extra="forbid")

    at: str
    kind: str
    probability: float = Field(1.0, ge=0, le=1)
    times: int | None = Field(None, ge=0)
    after: int = Field(0, ge=0)
    seconds: float | None = Field(None, ge=0, description="how long, for what takes time")
    retry_after: str | None = Field(None, description="the header's text, for answers that carry one")
    body: str | None = Field(None, description="the answer's body, for status_NNN")
    content_type: str | None = Field(None, description="the answer's content type, for status_NNN")
    url: str | None = Field(None, description="the address, for links that lead astray")
    price: float | None = Field(None, description="the price, for one edited in the portal")
    count: int | None = Field(None, ge=1, description="how many copies of what is repeated")
    bytes: int | None = Field(None, ge=0, description="how many, for what is cut or grown")
    vendor: str | None = Field(None, description="only for this vendor")
    sku: str | None = Field(None, description="only a job that has an item of this SKU, for one that fails")


class RuleSet(BaseModel):
    """The body of PUT /_sandbox/faults."""

    model_config = ConfigDict(extra="forbid")

    seed: int = 0
    rules: list[Rule] = Field(default_factory=list)


@dataclass
class _Active:
    rule: Rule
    chance: random.Random
    occasions: int = 0
    struck: int = 0


@dataclass
class Faults:
    """The rules in force."""

    seed: int = 0
    _active: list[_Active] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, rules: RuleSet) -> None:
        """Replaces all rules; a ValueError names the first that cannot be played."""
        for number, rule in enumerate(rules.rules):
            rule.kind = plain(rule.kind)
            problem = why_not(rule.at, rule.kind)
            if problem:
                raise ValueError(f"rules[{number}]: {problem}")
        with self._lock:
            self.seed = rules.seed
            self._active = [
                _Active(rule, random.Random(f"{rules.seed} {number} {rule.at} {rule.kind}"))  # noqa: S311  seeded on purpose
                for number, rule in enumerate(rules.rules)
            ]

    def draw(
        self,
        at: str | None,
        *kinds: str,
        vendor: str | None = None,
        has_sku: Callable[[str], bool] = lambda _: False,
    ) -> Rule | None:
        """The first rule that strikes this occasion: every rule of this operation and these kinds has its turn."""
        hit: Rule | None = None
        with self._lock:
            for active in self._active:
                rule = active.rule
                if rule.at != at or not _one_of(rule.kind, kinds) or (rule.vendor and rule.vendor != vendor):
                    continue
                if rule.sku and not has_sku(rule.sku):
                    continue
                active.occasions += 1
                chance = active.chance.random()
                if hit is not None or active.occasions <= rule.after or chance >= rule.probability:
                    continue
                if rule.times is not None and active.struck >= rule.times:
                    continue
                active.struck += 1
                hit = rule
        return hit

    def clear(self) -> None:
        self.put(RuleSet())

    def state(self) -> dict[str, Any]:
        """The rules with how often each had its turn and struck, and every kind there is with a sentence."""
        with self._lock:
            rules = [
                {**active.rule.model_dump(exclude_none=True), "occasions": active.occasions, "struck": active.struck}
                for active in self._active
            ]
        return {"seed": self.seed, "rules": rules, "kinds": describe()}


def _one_of(kind: str, kinds: tuple[str, ...]) -> bool:
    return any(kind == name or (name.endswith("*") and kind.startswith(name[:-1])) for name in kinds)
