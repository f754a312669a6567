"""The count of the calls that were rejected: the log has the first of a status at once, and further ones as a number once a minute."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from shelfsync import metrics
from shelfsync.errors import Alarm

log = logging.getLogger(__name__)

EVERY_S = 60.0


@dataclass
class _Kind:
    silent_until_s: float = 0.0
    waiting: int = 0
    reason: str = ""


class RejectedCalls:
    """Counts every rejected call by its status. The metrics have each call, the log one line a minute and status."""

    def __init__(self, *, every_s: float = EVERY_S) -> None:
        self._every_s = every_s
        self._kinds: dict[int, _Kind] = {}

    def note(self, status: int, reason: str, *, of: str = "inbox") -> None:
        """Counts one call. `reason`: the error, without any content of the call. `of`: the prefix of the metric."""
        metrics.count(f"{of}.rejected.{status}")
        kind = self._kinds.setdefault(status, _Kind())
        kind.waiting += 1
        kind.reason = f"{of}: {reason}"
        if time.monotonic() >= kind.silent_until_s:
            self._report(status, kind)

    def close(self) -> None:
        """Logs the calls that are not logged yet."""
        for status, kind in self._kinds.items():
            if kind.waiting:
                self._report(status, kind)

    def _report(self, status: int, kind: _Kind) -> None:
        text = f"inbox: rejected {kind.waiting} calls with {status}, the last for {kind.reason}"
        log.warning("%s", Alarm.CALLS_REJECTED.line(text))
        kind.waiting = 0
        kind.silent_until_s = time.monotonic() + self._every_s
