"""Time as an argument: nothing below asks the machine what time it is."""

from __future__ import annotations

import datetime as dt
import time
from typing import Protocol


class Clock(Protocol):
    """What the steps may know of time."""

    def now(self) -> dt.datetime:
        """The present, aware, in UTC. For records; never compared between machines."""

    def monotonic_s(self) -> float:
        """Seconds that only grow, for deadlines within one process."""

    def sleep(self, seconds: float) -> None:
        """Waits."""


class SystemClock:
    """The machine's own clock."""

    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    def monotonic_s(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
