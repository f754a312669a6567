"""How long one run waits for stores' systems: whoever hangs loses its own turn, not that of other stores and of what was picked."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.clock import Clock

_RUN_S = 60.0
"""All of a run; the next one comes within the minute, and what was picked is sent behind this one."""
_LOST_S = 30.0
"""Spent on calls that failed, whoever's: it is the way to the stores that is broken."""
_LOST_BY_STORE_S = 10.0
"""The same of one store: the others come first."""


class Patience:
    """Counts time, not failures: a refusal that comes at once costs nobody anything, and may be about one document alone."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ends_s = clock.monotonic_s() + _RUN_S
        self._lost_s: defaultdict[str, float] = defaultdict(float)

    def lasts(self) -> bool:
        """Whether anything more is tried in this run."""
        return self._clock.monotonic_s() < self._ends_s and not self.is_broken()

    def is_broken(self) -> bool:
        """Whether calls that failed have used up what a run has for them."""
        return sum(self._lost_s.values()) >= _LOST_S

    def has_time_for(self, vendor: str | None) -> bool:
        """Whether this store is tried once more in this run."""
        return self._lost_s[vendor or ""] < _LOST_BY_STORE_S

    @contextlib.contextmanager
    def calling(self, vendor: str | None) -> Iterator[None]:
        """Around each call; what it takes counts when it fails."""
        began_s = self._clock.monotonic_s()
        try:
            yield
        except Exception:
            self._lost_s[vendor or ""] += self._clock.monotonic_s() - began_s
            raise
