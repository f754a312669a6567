"""Virtual time: it stands still until somebody sleeps, and then the platform's clock moves with it."""

from __future__ import annotations

import datetime as dt
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

START = dt.datetime(2026, 3, 2, 4, 0, tzinfo=dt.UTC)


class VirtualClock:
    """The one clock of a world: of the house, of the database's sessions, and through `platform` of the platform."""

    def __init__(self, platform: Callable[[float], object]) -> None:
        self._platform = platform
        self._lock = threading.RLock()
        self._past_s = 0.0

    def now(self) -> dt.datetime:
        return START + dt.timedelta(seconds=self._past_s)

    def monotonic_s(self) -> float:
        return self._past_s

    def sleep(self, seconds: float) -> None:
        """Time passes for everybody; what falls due at the platform is done on the way."""
        if seconds <= 0:
            return
        micros = max(1, round(seconds * 1_000_000))  # what both clocks can tell apart
        with self._lock:
            self._past_s = round(self._past_s + micros / 1_000_000, 6)
            self._platform(micros / 1_000_000)

    def restart(self) -> None:
        self._past_s = 0.0
