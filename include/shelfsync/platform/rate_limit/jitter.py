"""How late a request may arrive after its slot without slowing the next ones down: jitter on the way to the platform.

Slots are `(window + jitter) / limit` apart. `limit + 1` of them span at least `window + jitter`, so requests that arrive less than `jitter`
after their slots are never more than `limit` in a window. This is what paces: it costs the jitter's share, 1.2 s of 61.2, and 98 % of the
allowance is used whenever work waits.
"""

from __future__ import annotations

import datetime as dt
import math


def spacing(limit: int, window_s: float, jitter_s: float) -> dt.timedelta:
    """The distance of two slots, rounded up to the microsecond, never down."""
    return dt.timedelta(microseconds=math.ceil((window_s + jitter_s) * 1_000_000 / limit))


def memory(window_s: float, jitter_s: float) -> dt.timedelta:
    """How long a request that arrived in time matters to those after it."""
    return dt.timedelta(seconds=window_s + jitter_s)


def late_s_max(jitter_s: float) -> float:
    """A holder that wakes up later than this after its slot has lost it; the other half is for the way."""
    return jitter_s / 2
