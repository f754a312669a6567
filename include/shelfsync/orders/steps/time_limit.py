"""The time limit of one run for stores' systems: a store that hangs delays neither other stores nor picking results."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partner_api.session import Clock

_RUN_S = 60.0
"""Seconds for a run. The next one starts within a minute, and picking results are sent after it."""
_LOST_S = 30.0
"""Seconds of failed calls in a run. Beyond them, the channel itself is probably broken."""
_LOST_BY_STORE_S = 10.0
"""Seconds of failed calls of one store in a run."""


class TimeLimit:
    """Counts time, not failures: an immediate rejection costs nothing, and may concern only one document."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ends_s = clock.monotonic_s() + _RUN_S
        self._lost_s: defaultdict[str, float] = defaultdict(float)

    def has_time(self) -> bool:
        """Whether this run may make another call."""
        return self._clock.monotonic_s() < self._ends_s and not self.is_used_up_by_failures()

    def is_used_up_by_failures(self) -> bool:
        """Whether failed calls have used up their time in this run."""
        return sum(self._lost_s.values()) >= _LOST_S

    def has_time_for(self, vendor: str | None) -> bool:
        """Whether this run may call this store again."""
        return self._lost_s[vendor or ""] < _LOST_BY_STORE_S

    @contextlib.contextmanager
    def calling(self, vendor: str | None) -> Iterator[None]:
        """Use it around each call. Its duration counts if the call fails."""
        began_s = self._clock.monotonic_s()
        try:
            yield
        except Exception:
            self._lost_s[vendor or ""] += self._clock.monotonic_s() - began_s
            raise
