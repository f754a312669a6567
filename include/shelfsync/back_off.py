"""Back-off: how long shelfsync waits after consecutive failures. Each caller states its first and its longest wait, and what it counts."""

from __future__ import annotations

import math

DOUBLINGS_MAX = 30


def back_off_s(failures: int, first_s: float, max_s: float) -> float:
    """Seconds to wait after this number of consecutive failures: none after none, then `first_s`, then twice the wait before, up to `max_s`."""
    if failures < 1:
        return 0.0
    return min(math.ldexp(first_s, min(failures - 1, DOUBLINGS_MAX)), max_s)


def waits_s(first_s: float, max_s: float) -> list[float]:
    """The waits after the first failure, the second and so on. The last one stays; a statement of SQL takes them as its list."""
    every = [back_off_s(failures, first_s, max_s) for failures in range(1, DOUBLINGS_MAX + 2)]
    return every[: every.index(every[-1]) + 1]
