"""When the platform says stop: how long the whole installation keeps silent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

THROTTLED_S = 15.0
BLOCKED_S = 60.0
BACKOFF_S_MAX = 900.0
"""An edge's block was seen to last ten minutes: asking again every quarter of an hour is enough."""
JITTER = 0.1


@dataclass(frozen=True, slots=True)
class Answer:
    """What matters of an answer. `retry_after_s`: seconds from now; `blocked`: the edge refuses the whole address."""

    operation: str
    status: int
    retry_after_s: float | None
    blocked: bool

    @property
    def stops(self) -> bool:
        """True when nobody may send for a while.

        On a 2xx or 3xx a Retry-After is advice about this one resource, not a wish to be left alone.
        """
        return self.status == 429 or self.blocked or (self.retry_after_s is not None and self.status >= 400)

    @property
    def reason(self) -> str:
        """The same in words, for people."""
        if self.blocked:
            return f"the platform's edge blocks this address ({self.status} on {self.operation})"
        if self.status == 429:
            return f"the platform counts too many requests (429 on {self.operation})"
        return f"the platform asks to wait ({self.status} with Retry-After on {self.operation})"


def pause_s(answer: Answer, strikes: int, chance: random.Random, *, longest_s: float) -> float:
    """How long to keep silent after the `strikes`-th stop in a row, from 1, in seconds.

    A Retry-After is obeyed, and doubted when it has failed before; without one the pause doubles. Jitter only ever lengthens
    it, so that two installations that were stopped together do not come back together.
    """
    first_s = BLOCKED_S if answer.blocked else THROTTLED_S
    asked_s = answer.retry_after_s
    if asked_s is not None and (math.isnan(asked_s) or asked_s < 0):
        asked_s = None
    doublings = strikes - 1 if asked_s is None else strikes - 2
    backoff_s = 0.0 if doublings < 0 else min(first_s * 2.0 ** min(doublings, 30), BACKOFF_S_MAX)
    silent_s = max(1.0, backoff_s, asked_s or 0.0)
    return min(silent_s * (1 + JITTER * chance.random()) + chance.random(), longest_s)
