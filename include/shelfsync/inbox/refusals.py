"""Refused calls in the log: the first of a kind at once, a flood of them as a number once a minute."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from shelfsync import metrics

log = logging.getLogger(__name__)

EVERY_S = 60.0


@dataclass
class _Kind:
    silent_until_s: float = 0.0
    waiting: int = 0
    reason: str = ""


class Refusals:
    """Counts every refused call by its status; the metrics have each, the log has one line a minute and status."""

    def __init__(self, *, every_s: float = EVERY_S) -> None:
        self._every_s = every_s
        self._kinds: dict[int, _Kind] = {}

    def note(self, status: int, reason: str, *, of: str = "inbox") -> None:
        """One more. `reason` tells what is wrong with the call, and nothing of what is in it."""
        metrics.count(f"{of}.refused.{status}")
        kind = self._kinds.setdefault(status, _Kind())
        kind.waiting += 1
        kind.reason = f"{of}: {reason}"
        if time.monotonic() >= kind.silent_until_s:
            self._report(status, kind)

    def close(self) -> None:
        """Reports what has not been reported."""
        for status, kind in self._kinds.items():
            if kind.waiting:
                self._report(status, kind)

    def _report(self, status: int, kind: _Kind) -> None:
        log.warning("inbox: refused %d calls with %d, the last for %s", kind.waiting, status, kind.reason)
        kind.waiting = 0
        kind.silent_until_s = time.monotonic() + self._every_s
