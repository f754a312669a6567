"""What one request goes through until it may leave, step by step; who drives the steps runs transactions and lets time pass.

One definition serves threads, event loops and a virtual clock.
"""

from __future__ import annotations

import logging
import random
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync import metrics
from shelfsync.budget.allowance import Allowance, Ask, Contact, Turn
from shelfsync.budget.answers import record
from shelfsync.budget.lanes import known
from shelfsync.budget.pause import Answer
from shelfsync.budget.schedule import Rate
from shelfsync.errors import ConfigurationError, TryAgainError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable

    from sqlalchemy.engine import Connection

    from shelfsync.settings import BudgetSettings

    Steps = Generator["Transaction | Sleep", Any, Any]

log = logging.getLogger(__name__)

_AGAIN_S = 0.25
_AWAY_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Transaction:
    """A step: run this in one transaction, and send the result back."""

    run: Callable[[Connection], Any]


@dataclass(frozen=True, slots=True)
class Sleep:
    """A step: wait so long."""

    seconds: float


class Course:
    """Admissions and reports of one process.

    `rate`, `chance` and `database_time` replace what the settings, the machine and the server say, for other clocks than theirs.
    `outage_s`: how long a database that does not answer is borne before a request is given back; nothing leaves meanwhile.
    """

    def __init__(
        self,
        settings: BudgetSettings,
        monotonic_s: Callable[[], float],
        *,
        rate: Rate | None = None,
        chance: random.Random | None = None,
        database_time: sa.ColumnElement[Any] | None = None,
        outage_s: float = 5.0,
    ) -> None:
        self.allowance = Allowance(
            key=settings.key,
            rate=rate or Rate(settings.requests_per_minute, jitter_s=settings.jitter_s),
            pause_s_max=settings.pause_s_max,
            database_time=sa.func.clock_timestamp() if database_time is None else database_time,
        )
        self._wait_s_max = settings.wait_s_max
        self._outage_s = outage_s
        self._monotonic_s = monotonic_s
        self._chance = chance or random.SystemRandom()
        self._contact: Contact | None = None
        self._untold: deque[Answer] = deque(maxlen=16)
        self._away: dict[Hashable, int] = {}
        """The permit of the request that each sender has on its way."""
        self._lanes: dict[Hashable, str] = {}
        """The lane of the request that each sender sent last."""

    def admission(self, operation: str, lane: str, who: Hashable) -> Steps:
        """Ends when the request has to leave, at once: its slot is now.

        `who` sends one request at a time: asking again, it is through with the one before, answered or not. A driver that
        gives up half-way leaves nothing behind: whoever stops looking is passed over.
        """
        ask = Ask(known(lane), operation)
        began_s = self._monotonic_s()
        while True:
            turn = yield from self._insist(ask, who)
            self._contact = turn.contact
            if turn.slot_at is None:
                self._be_patient(ask, turn, self._monotonic_s() - began_s)
                yield Sleep(turn.again_s)
            else:
                assert turn.permit_id is not None
                self._away[who] = turn.permit_id
                if len(self._away) > _AWAY_MAX:  # senders that never came back; time has settled theirs long since
                    self._away.pop(next(iter(self._away)))
                if (yield from self._reach(turn)):
                    self._told_off(ask.lane, who, self._monotonic_s() - began_s)
                    return
            ask = replace(ask, ticket_id=turn.ticket_id, forfeited=turn.slot_at is not None)

    def answer(
        self, operation: str, status: int, retry_after_s: float | None, who: Hashable, *, blocked: bool
    ) -> Steps:
        """Tells everybody what an answer means for them.

        Never fails: the caller holds an answer that must not be lost. What the database does not take now is told before
        the next admission of this process.
        """
        one = Answer(operation, status, retry_after_s, blocked)
        metrics.count(f"budget.answers.{self._lanes.pop(who, 'unknown')}.{status}")
        try:
            silent_s = yield Transaction(lambda connection: self._tell(connection, one, who))
            self._away.pop(who, None)
        except (sa.exc.DBAPIError, sa.exc.TimeoutError) as error:
            if one.stops:
                self._untold.append(one)
            log.warning("budget: the answer %d to %s was not recorded: %s", status, operation, _said(error))
            return
        if one.stops:
            metrics.count("budget.pauses")
            log.warning("budget: nothing leaves for %.0f s: %s", silent_s, one.reason)

    def end(self, operation: str, lane: str, who: Hashable, *, used: bool) -> Steps:
        """The sender is through with its slot, and there is no answer of the platform: another host's, or nothing was sent.

        Never fails: what is not recorded now is settled by the sender's next admission, or by time.
        """
        ask = Ask(known(lane), operation)
        self._lanes.pop(who, None)
        try:
            yield Transaction(lambda connection: self._settle(connection, ask, who, used=used))
            self._away.pop(who, None)
        except (sa.exc.DBAPIError, sa.exc.TimeoutError) as error:
            log.warning("budget: the end of %s was not recorded: %s", operation, _said(error))

    def _settle(self, connection: Connection, ask: Ask, who: Hashable, *, used: bool) -> None:
        self.allowance.lock(connection)
        if who in self._away:
            self.allowance.arrived(connection, [self._away[who]])
        if not used:
            self.allowance.forfeit(connection, ask)

    def _told_off(self, lane: str, who: Hashable, waited_s: float) -> None:
        """The request leaves now."""
        self._lanes[who] = lane
        if len(self._lanes) > _AWAY_MAX:
            self._lanes.pop(next(iter(self._lanes)))
        metrics.count(f"budget.requests.{lane}")
        metrics.timing(f"budget.wait.{lane}", waited_s)

    def _tell(self, connection: Connection, answer: Answer, who: Hashable) -> float:
        self.allowance.lock(connection)  # first of all, here and in every look: one order of locks has no deadlock
        if who in self._away:
            self.allowance.arrived(connection, [self._away[who]])
        return record(connection, self.allowance, answer, self._chance)

    def _look(self, connection: Connection, ask: Ask, who: Hashable) -> Turn:
        self.allowance.lock(connection)
        for answer in tuple(self._untold):
            record(connection, self.allowance, answer, self._chance)
        if who in self._away:
            self.allowance.arrived(connection, [self._away[who]])
        if ask.forfeited:
            self.allowance.forfeit(connection, ask)
        return self.allowance.look(connection, ask, self._contact, self._monotonic_s)

    def _insist(self, ask: Ask, who: Hashable) -> Generator[Transaction | Sleep, Any, Turn]:
        """Bears a short outage of the database; a longer one is the caller's to bear."""
        began_s = self._monotonic_s()
        while True:
            told = tuple(self._untold)
            try:
                turn: Turn = yield Transaction(lambda connection: self._look(connection, ask, who))
            except sa.exc.ProgrammingError as error:
                raise ConfigurationError(
                    "SHELFSYNC_DATABASE_URL",
                    f"the tables of the request budget cannot be used: {_said(error)}",
                    "Migrate the database with this version of shelfsync.",
                ) from error
            except (sa.exc.DBAPIError, sa.exc.TimeoutError) as error:
                if self._monotonic_s() - began_s >= self._outage_s:
                    raise TryAgainError(
                        f"nothing is sent while the database of the request budget is away: {_said(error)}",
                        after_s=30.0,
                    ) from error
                yield Sleep(_AGAIN_S)
            else:
                for answer in told:
                    self._untold.remove(answer)
                self._away.pop(who, None)
                return turn

    def _be_patient(self, ask: Ask, turn: Turn, waited_s: float) -> None:
        if turn.paused_s > self._wait_s_max:
            raise TryAgainError(
                f"{ask.operation} cannot leave for another {turn.paused_s:.0f} s: {turn.pause_reason}",
                after_s=turn.paused_s,
            )
        if waited_s > self._wait_s_max:
            raise TryAgainError(
                f"{ask.operation} got no slot of the request budget in {waited_s:.0f} s (lane {ask.lane}): others go first",
                after_s=60.0,
            )

    def _reach(self, turn: Turn) -> Generator[Sleep, Any, bool]:
        """Waits for the slot by this process's own monotonic clock; False when it woke up too late to use it."""
        assert turn.slot_at is not None
        ahead_s = (turn.slot_at - turn.contact.database).total_seconds()
        while (left_s := turn.contact.after_s + ahead_s - self._monotonic_s()) > 0:
            yield Sleep(left_s)
        return self._monotonic_s() - turn.contact.before_s - ahead_s <= self.allowance.rate.late_s_max


def _said(error: Exception) -> str:
    """What the database said, in one line; no address, no statement, no parameter."""
    cause = getattr(error, "orig", None) or error
    lines = str(cause).strip().splitlines()
    return lines[0] if lines else type(cause).__name__
