"""Gates behind one another: each request of the platform passes all of them, and all see its answer.

Here: the one that notices outages, and the one of a plan, which admits no change.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

from shelfsync import outages
from shelfsync.errors import ReadOnlyError

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from partner_api.session import Clock, Gate

_NOT_IMPLEMENTED = 501
ANSWERED_EVERY_S = 1.0
"""How often a process whose requests are all answered ends the outage that another process may have met."""


CHANGES = frozenset({"put_catalog", "create_products", "put_promotion"})
"""Operations that change what customers see. An order is not among them: its customer waits, also while the catalog is paused."""


class GateBehind:
    """A gate behind another one, which receives every report."""

    def __init__(self, inner: Gate) -> None:
        self._inner = inner

    def admit(self, operation: str, priority: str, vendors: tuple[str, ...]) -> None:
        """Returns when the request may be sent."""
        self._inner.admit(operation, priority, vendors)

    def report(self, operation: str, status: int, retry_after_s: float | None, blocked: bool) -> None:
        """Passes the answer on."""
        self._inner.report(operation, status, retry_after_s, blocked)

    def unanswered(self, operation: str, reason: str) -> None:
        """Passes it on."""
        self._inner.unanswered(operation, reason)

    def done(self, operation: str, priority: str, used: bool) -> None:
        """Passes it on."""
        self._inner.done(operation, priority, used)


class OutageGate(GateBehind):
    """Any gate, and stores from when to when the platform is away: it does not answer, or answers with a 5xx."""

    def __init__(self, inner: Gate, engine: Engine, clock: Clock) -> None:
        super().__init__(inner)
        self._engine = engine
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._answered_s = -math.inf
        """When this process last stored that the platform answers, if no request of it has failed since."""

    def report(self, operation: str, status: int, retry_after_s: float | None, blocked: bool) -> None:
        """Passes the answer on. A block of the edge is a pause of the rate limit: the platform behind it is not heard of."""
        super().report(operation, status, retry_after_s, blocked)
        if blocked:
            return
        if status >= 500 and status != _NOT_IMPLEMENTED:
            self._failed(f"{operation} was answered with {status}")
        elif self._clock.monotonic_s() - self._answered_s >= ANSWERED_EVERY_S:
            self._answered()

    def unanswered(self, operation: str, reason: str) -> None:
        """Passes it on."""
        super().unanswered(operation, reason)
        self._failed(f"{operation} had no answer: {reason}")

    def _answered(self) -> None:
        began_s, failures = self._clock.monotonic_s(), self._failures
        stored = outages.answered(self._engine, outages.PLATFORM)
        with self._lock:
            if stored and failures == self._failures:  # of another thread, which may have begun an outage meanwhile
                self._answered_s = began_s

    def _failed(self, error: str) -> None:
        outages.failed(self._engine, outages.PLATFORM, error)
        with self._lock:
            self._failures += 1
            self._answered_s = -math.inf


class ReadOnlyGate(GateBehind):
    """A gate that admits no change of the platform: the gate of a plan."""

    def admit(self, operation: str, priority: str, vendors: tuple[str, ...]) -> None:
        """Returns when a request that only reads may be sent."""
        if operation in CHANGES:
            raise ReadOnlyError(f"{operation}: this process was opened to plan and may change nothing on the platform")
        self._inner.admit(operation, priority, vendors)
