"""The gate of the shared request allowance: every request of every process passes it, once the allowance has a slot for the request."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from shelfsync.platform.rate_limit.admission import Admission, Sleep, Transaction
from shelfsync.platform.rate_limit.forecast import forecast, status, use

if TYPE_CHECKING:
    import random

    import sqlalchemy as sa
    from sqlalchemy.engine import Engine

    from partner_api.session import Clock
    from shelfsync.platform.rate_limit.admission import Steps
    from shelfsync.platform.rate_limit.forecast import Forecast, Status, Use
    from shelfsync.platform.rate_limit.sliding_window import Rate
    from shelfsync.settings import RateLimitSettings


class RateLimiter:
    """`admit` blocks until the request may be sent.

    One for a process; many threads may use it at once, each for one request at a time.
    """

    def __init__(
        self,
        engine: Engine,
        settings: RateLimitSettings,
        clock: Clock,
        *,
        chain: str = "",
        rate: Rate | None = None,
        chance: random.Random | None = None,
        database_time: sa.ColumnElement[Any] | None = None,
        outage_s: float = 5.0,
    ) -> None:
        self._engine = engine
        self._alone = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._clock = clock
        self._admission = Admission(
            settings,
            clock.monotonic_s,
            chain=chain,
            rate=rate,
            chance=chance,
            database_time=database_time,
            outage_s=outage_s,
        )

    def admit(self, operation: str, priority: str, vendors: tuple[str, ...]) -> None:  # noqa: ARG002  all vendors share one allowance
        """Returns when one request may be sent; the caller has to send it then.

        TryAgainError when that cannot be soon: the database is unavailable, a long pause is in force, other requests go first.
        ConfigurationError when the database has no such tables.
        """
        self._drive(self._admission.admission(operation, priority, threading.get_ident()))

    def report(self, operation: str, status: int, retry_after_s: float | None, blocked: bool) -> None:
        """Records an answer; a 429, a block of the edge or a Retry-After pauses all requests. Never raises for the database."""
        self._drive(self._admission.answer(operation, status, retry_after_s, threading.get_ident(), blocked=blocked))

    def unanswered(self, operation: str, reason: str) -> None:
        """Nothing to record: the slot ends with the next `admit` of this caller."""

    def done(self, operation: str, priority: str, used: bool) -> None:
        """Ends a slot without an answer of the platform: it counts until now at the latest. Never raises for the database."""
        self._drive(self._admission.end(operation, priority, threading.get_ident(), used=used))

    def status(self) -> Status:
        """The state of the allowance now: waiting, paused."""
        with self._engine.begin() as connection:
            return status(connection, self._admission.allowance)

    def use(self, hours: int = 24) -> Use:
        """What the allowance was used for in the last hours."""
        with self._engine.begin() as connection:
            return use(connection, self._admission.allowance, hours=hours)

    def forecast(self, requests: int, *, priority: str = "catalog", every_s: float | None = None) -> Forecast:
        """How long so many requests take from now, and whether that is within the schedule's interval."""
        now = self.status()
        return forecast(
            self._admission.allowance.rate,
            requests,
            priority=priority,
            ahead=sum(now.waiting.values()),
            paused_s=now.paused_s,
            every_s=every_s,
        )

    def _drive(self, steps: Steps) -> None:
        try:
            step = next(steps)
            while True:
                try:
                    result = self._do(step)
                except Exception as error:  # noqa: BLE001  the admission decides what it means
                    step = steps.throw(error)
                else:
                    step = steps.send(result)
        except StopIteration:
            return

    def _do(self, step: Transaction | Sleep) -> Any:
        if isinstance(step, Sleep):
            self._clock.sleep(step.seconds)
            return None
        with (self._alone if step.alone else self._engine).begin() as connection:
            return step.run(connection)
