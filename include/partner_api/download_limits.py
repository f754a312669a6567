"""Download limits: the ceilings of one log or export in bytes and time, and its least speed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    """Ceilings of one log or export, and its least speed."""

    max_bytes: int = 512 * 1024 * 1024
    """Expanded."""
    ratio_max: float = 100.0
    """Expanded to compressed, once `ratio_grace_bytes` have come out."""
    ratio_grace_bytes: int = 8 * 1024 * 1024
    total_s: float = 600.0
    least_bytes_per_s: float = 1000.0
    """The least speed over each `speed_window_s`, after the first `speed_grace_s` of the body; 0: none. The head has as long as both."""
    speed_grace_s: float = 10.0
    speed_window_s: float = 20.0
    redirects_max: int = 3


class Speed:
    """The speed of a body: too slow if one window of it, after the grace, has too few bytes, or if the whole takes too long.

    Another thread asks too: a body that sends nothing of the file, as in a chunk without an end, is never counted.
    """

    def __init__(self, limits: DownloadLimits, monotonic_s: Callable[[], float]) -> None:
        self._limits = limits
        self._monotonic_s = monotonic_s
        self._ends_at_s = monotonic_s() + limits.total_s
        self._window: tuple[float, int] = (math.inf, 0)
        self._bytes = 0

    def begin(self) -> None:
        """The head is there."""
        self._window = (self._monotonic_s() + self._limits.speed_grace_s, 0)

    def count(self, more: int) -> None:
        self._bytes += more

    def fault(self) -> str | None:
        """What is too slow. A window that has passed with enough bytes ends here."""
        limits, now_s = self._limits, self._monotonic_s()
        if now_s > self._ends_at_s:
            return f"not done after {limits.total_s:g} s; {self._bytes} bytes came"
        from_s, before = self._window
        passed_s, came = now_s - from_s, self._bytes - before
        if passed_s < limits.speed_window_s:
            return None
        if came < limits.least_bytes_per_s * passed_s:
            return (
                f"{came} bytes came in {passed_s:.0f} s; the least speed is {limits.least_bytes_per_s:g} bytes a second"
            )
        self._window = (now_s, self._bytes)
        return None
