"""The platform's clock: the machine's own, or one that stops until it is advanced.

Instants are whole microseconds since 1970 UTC inside, ISO 8601 with milliseconds and Z outside.
"""

from __future__ import annotations

import datetime as dt
import threading
import time

SECOND_US = 1_000_000


def iso(at_us: int) -> str:
    """`2026-01-31T12:00:00.000Z`."""
    moment = dt.datetime.fromtimestamp(at_us // SECOND_US, dt.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at_us % SECOND_US // 1000:03d}Z"


def to_us(seconds: float) -> int:
    """Seconds as whole microseconds."""
    return round(seconds * SECOND_US)


class Clock:
    """What time it is on the platform. A virtual clock moves only by `advance` and `move_to`."""

    def __init__(self, *, virtual: bool, start: dt.datetime | None = None) -> None:
        self.virtual = virtual
        self._start = start
        self._lock = threading.Lock()
        self._offset_us = 0
        self._still_us = 0
        self.restart()

    def restart(self) -> None:
        """Back to where it began: `start`, or the machine's present where none was given."""
        with self._lock:
            machine_us = time.time_ns() // 1000
            begin_us = machine_us if self._start is None else to_us(self._start.timestamp())
            self._offset_us = begin_us - machine_us
            self._still_us = begin_us

    def now_us(self) -> int:
        """The present in microseconds."""
        if self.virtual:
            return self._still_us
        return time.time_ns() // 1000 + self._offset_us

    def now_iso(self) -> str:
        """The present as the interface writes it."""
        return iso(self.now_us())

    def advance(self, seconds: float) -> None:
        """Advances the time; a real clock continues from there."""
        with self._lock:
            self._still_us += to_us(seconds)
            self._offset_us += to_us(seconds)

    def move_to(self, at_us: int) -> None:
        """A virtual clock to an instant that is not behind it."""
        with self._lock:
            self._still_us = max(self._still_us, at_us)
