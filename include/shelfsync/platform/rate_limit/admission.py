"""The steps of one request until it may be sent. The driver of the steps runs the transactions and the pauses.

One definition serves real threads and the virtual clock of the tests.
"""

from __future__ import annotations

import logging
import random
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import metrics
from shelfsync.errors import ConfigurationError, TryAgainError
from shelfsync.platform.rate_limit.allowance import Allowance, Ask, Contact, Turn
from shelfsync.platform.rate_limit.pauses import Answer, count, go_on, stop
from shelfsync.platform.rate_limit.priorities import known
from shelfsync.platform.rate_limit.sliding_window import Rate

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable

    from sqlalchemy.engine import Connection

    from shelfsync.settings import RateLimitSettings

    Steps = Generator["Transaction | Sleep", Any, Any]

log = logging.getLogger(__name__)

_AGAIN_S = 0.25
_AWAY_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Transaction:
    """A step: run this in one transaction, and send the result back. `alone`: it is one statement, which commits itself."""

    run: Callable[[Connection], Any]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Sleep:
    """A step: wait so long."""

    seconds: float


class Admission:
    """Admissions and reports of one process, which works for one chain.

    `rate`, `chance` and `database_time` replace those of the settings, the machine and the server, for other clocks.
    `outage_s`: how long a database that does not answer is borne before a request is given back; nothing leaves meanwhile.
    """

    def __init__(
        self,
        settings: RateLimitSettings,
        monotonic_s: Callable[[], float],
        *,
        chain: str = "",
        rate: Rate | None = None,
        chance: random.Random | None = None,
        database_time: sa.ColumnElement[Any] | None = None,
        outage_s: float = 5.0,
    ) -> None:
        self.allowance = Allowance(
            key=settings.scope,
            rate=rate or Rate(settings.requests_per_minute, jitter_s=settings.jitter_s),
            pause_max_s=settings.pause_max_s,
            chain=chain,
            database_time=sa.func.clock_timestamp() if database_time is None else database_time,
        )
        self._wait_s_max = settings.wait_max_s
        self._outage_s = outage_s
        self._monotonic_s = monotonic_s
        self._chance = chance or random.SystemRandom()
        self._contact: Contact | None = None
        self._unrecorded: deque[Answer] = deque(maxlen=16)
        self._away: dict[Hashable, int] = {}
        """The permit of the request that each sender has on its way."""
        self._priorities: dict[Hashable, str] = {}
        """The priority of the request that each sender sent last."""

    def admission(self, operation: str, priority: str, who: Hashable) -> Steps:
        """Ends when the request has to be sent at once: its slot is now.

        `who` sends one request at a time: asking again, it is through with the one before, answered or not. A driver that
        gives up half-way leaves nothing behind: a request that stops looking is skipped.
        """
        ask = Ask(known(priority), operation)
        began_s = self._monotonic_s()
        while True:
            turn = yield from self._insist(ask, who)
            self._contact = turn.contact
            if turn.slot_at is None:
                self._require_wait(ask, turn, self._monotonic_s() - began_s)
                yield Sleep(turn.again_s)
            else:
                assert turn.permit_id is not None
                self._away[who] = turn.permit_id
                if len(self._away) > _AWAY_MAX:  # senders that never reported; their permits have expired long ago
                    self._away.pop(next(iter(self._away)))
                if (yield from self._reach(turn)):
                    self._leaves(ask.priority, who, self._monotonic_s() - began_s)
                    return
            ask = replace(ask, ticket_id=turn.ticket_id, forfeited=turn.slot_at is not None)

    def answer(
        self, operation: str, status: int, retry_after_s: float | None, who: Hashable, *, blocked: bool
    ) -> Steps:
        """Records what an answer means for all processes.

        Never fails: the caller holds an answer that must not be lost. If the database does not store the answer now, the next
        admission of this process stores it first.
        """
        answer = Answer(operation, status, retry_after_s, blocked)
        metrics.count(f"rate_limit.answers.{self._priorities.pop(who, 'unknown')}.{status}")
        try:
            silent_s = 0.0
            if answer.stops:
                silent_s = yield Transaction(lambda connection: self._record_stop(connection, answer, who))
            elif (yield Transaction(lambda connection: self._count(connection, answer, who), alone=True)):
                yield Transaction(self._go_on)
            self._away.pop(who, None)
        except (sa.exc.DBAPIError, sa.exc.TimeoutError) as error:
            if answer.stops:
                self._unrecorded.append(answer)
            log.warning("rate_limit: the answer %d to %s was not recorded: %s", status, operation, _reason(error))
            return
        if answer.stops:
            metrics.count("rate_limit.pauses")
            log.warning("rate_limit: no request is sent for %.0f s: %s", silent_s, answer.reason)

    def end(self, operation: str, priority: str, who: Hashable, *, used: bool) -> Steps:
        """Ends a slot without an answer of the platform: the request went to another host, or was not sent.

        Never fails: if the end is not recorded now, the slot ends with the sender's next admission, or expires.
        """
        ask = Ask(known(priority), operation)
        self._priorities.pop(who, None)
        try:
            yield Transaction(lambda connection: self._end_slot(connection, ask, who, used=used))
            self._away.pop(who, None)
        except (sa.exc.DBAPIError, sa.exc.TimeoutError) as error:
            log.warning("rate_limit: the end of %s was not recorded: %s", operation, _reason(error))

    def _end_slot(self, connection: Connection, ask: Ask, who: Hashable, *, used: bool) -> None:
        self.allowance.lock(connection)
        self._has_arrived(connection, who)
        if not used:
            self.allowance.forfeit(connection, ask)

    def _leaves(self, priority: str, who: Hashable, waited_s: float) -> None:
        """The request leaves now."""
        self._priorities[who] = priority
        if len(self._priorities) > _AWAY_MAX:
            self._priorities.pop(next(iter(self._priorities)))
        metrics.count(f"rate_limit.requests.{priority}")
        metrics.timing(f"rate_limit.wait.{priority}", waited_s)

    def _count(self, connection: Connection, answer: Answer, who: Hashable) -> bool:
        """Takes no lock of the allowance, so no look waits for it. It waits for another answer that is counted at this moment.

        A look writes the same rows only if it counts an answer that was not recorded at its time.
        """
        return count(connection, self.allowance, answer, self._away.get(who))

    def _go_on(self, connection: Connection) -> None:
        self.allowance.lock(connection)
        go_on(connection, self.allowance)

    def _record_stop(self, connection: Connection, answer: Answer, who: Hashable) -> float:
        state = self.allowance.lock(connection)  # first, here and in every look: one order of locks has no deadlock
        self._count(connection, answer, who)
        return stop(connection, self.allowance, state, answer, self._chance)

    def _has_arrived(self, connection: Connection, who: Hashable) -> None:
        """The request before this one of the same sender, answered or not."""
        if who in self._away:
            self.allowance.arrived(connection, self._away[who])

    def _look(self, connection: Connection, ask: Ask, who: Hashable) -> Turn:
        state = self.allowance.lock(connection)
        for answer in tuple(self._unrecorded):
            count(connection, self.allowance, answer)
            stop(connection, self.allowance, state, answer, self._chance)
            state = self.allowance.lock(connection)
        self._has_arrived(connection, who)
        if ask.forfeited:
            self.allowance.forfeit(connection, ask)
        return self.allowance.look(connection, state, ask, self._contact, self._monotonic_s)

    def _insist(self, ask: Ask, who: Hashable) -> Generator[Transaction | Sleep, Any, Turn]:
        """Bears a short outage of the database; a longer one is the caller's to bear."""
        began_s = self._monotonic_s()
        while True:
            unrecorded = tuple(self._unrecorded)
            try:
                turn: Turn = yield Transaction(lambda connection: self._look(connection, ask, who))
            except sa.exc.ProgrammingError as error:
                raise ConfigurationError(
                    "SHELFSYNC_DATABASE_URL",
                    f"the tables of the rate limit cannot be used: {_reason(error)}",
                    "Migrate the database with this version of shelfsync.",
                ) from error
            except (sa.exc.DBAPIError, sa.exc.TimeoutError) as error:
                if self._monotonic_s() - began_s >= self._outage_s:
                    raise TryAgainError(
                        f"no request is sent while the database of the rate limit is not available: {_reason(error)}",
                        after_s=30.0,
                    ) from error
                yield Sleep(_AGAIN_S)
            else:
                for answer in unrecorded:
                    self._unrecorded.remove(answer)
                self._away.pop(who, None)
                return turn

    def _require_wait(self, ask: Ask, turn: Turn, waited_s: float) -> None:
        if turn.paused_s > self._wait_s_max:
            raise TryAgainError(
                f"{ask.operation} cannot leave for another {turn.paused_s:.0f} s: {turn.pause_reason}",
                after_s=turn.paused_s,
            )
        if waited_s > self._wait_s_max:
            raise TryAgainError(
                f"{ask.operation} got no slot of the rate limit in {waited_s:.0f} s (priority {ask.priority}): other requests go first",
                after_s=60.0,
            )

    def _reach(self, turn: Turn) -> Generator[Sleep, Any, bool]:
        """Waits for the slot by this process's own monotonic clock; False when it woke up too late to use it."""
        assert turn.slot_at is not None
        ahead_s = (turn.slot_at - turn.contact.database).total_seconds()
        while (left_s := turn.contact.after_s + ahead_s - self._monotonic_s()) > 0:
            yield Sleep(left_s)
        return self._monotonic_s() - turn.contact.before_s - ahead_s <= self.allowance.rate.late_s_max


def _reason(error: Exception) -> str:
    """The database's error in one line; no address, no statement, no parameter."""
    cause = getattr(error, "orig", None) or error
    lines = str(cause).strip().splitlines()
    return lines[0] if lines else type(cause).__name__
