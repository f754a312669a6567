"""Time as an argument. `Clock` is a protocol: any object with these three methods works."""

from __future__ import annotations

import datetime as dt
import time
from typing import Protocol


class Clock(Protocol):
    def now(self) -> dt.datetime:
        """The current time, aware, in UTC. Only a date in `Retry-After` needs it, when the answer has no `Date`."""

    def monotonic_s(self) -> float:
        """Seconds of a clock that never goes back."""

    def sleep(self, seconds: float) -> None:
        """Waits for so many seconds."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    def monotonic_s(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
