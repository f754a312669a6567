"""The count of the calls that were rejected: the log has the first of a status at once, and further ones as a number once a minute.

Wrong secrets are reported further at the same times, so a flood of calls costs one report a minute.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync import metrics
from shelfsync.errors import Alarm

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

EVERY_S = 60.0
WRONG_SECRET = 401


@dataclass
class _Kind:
    silent_until_s: float = 0.0
    waiting: int = 0
    reason: str = ""


class RejectedCalls:
    """Counts every rejected call by endpoint and status. The metrics have each call, the log one line a minute of each.

    `refused` gets the endpoint and the number of the calls with a wrong secret (401), as often as the log.
    """

    def __init__(self, *, every_s: float = EVERY_S, refused: Callable[[str, int], None] | None = None) -> None:
        self._every_s = every_s
        self._refused = refused
        self._kinds: dict[tuple[str, int], _Kind] = {}

    def note(self, status: int, reason: str, *, of: str = "inbox") -> None:
        """Counts one call. `reason`: the error, without any content of the call. `of`: the prefix of the metric."""
        metrics.count(f"{of}.rejected.{status}")
        kind = self._kinds.setdefault((of, status), _Kind())
        kind.waiting += 1
        kind.reason = reason
        if time.monotonic() >= kind.silent_until_s:
            self._report(of, status, kind)

    def close(self) -> None:
        """Logs the calls that are not logged yet."""
        for (of, status), kind in self._kinds.items():
            if kind.waiting:
                self._report(of, status, kind)

    def _report(self, of: str, status: int, kind: _Kind) -> None:
        text = f"inbox: rejected {kind.waiting} calls with {status}, the last for {of}: {kind.reason}"
        log.warning("%s", Alarm.CALLS_REJECTED.line(text))
        if status == WRONG_SECRET and self._refused is not None:
            self._refused(of, kind.waiting)
        kind.waiting = 0
        kind.silent_until_s = time.monotonic() + self._every_s
