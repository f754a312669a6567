"""The fault-injection point: every external effect of a process passes here, has a number, and may be its last.

Effects are: a commit, a request (before: nothing has left; after: the platform has done it and its answer was never read), and the
publishing of a file. Between effects a process changes nothing that outlives it, so dying before and after each is dying everywhere.
"""

from __future__ import annotations

import contextlib
import random
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import httpx
import psycopg
from psycopg.pq import TransactionStatus

from shelfsync.store.lake import Lake

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simulation.clock import VirtualClock
    from simulation.listed import Listed


KINDS = ("commit", "request", "rename")
STUCK_S = 30.0
FORGET = "RESET ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP"


class Killed(BaseException):
    """The process was killed here."""


@dataclass(frozen=True)
class Death:
    """Dies at the `nth` effect of this kind (any: of all), `before` it happens or after."""

    nth: int
    before: bool
    kind: str = "any"


class Turns:
    """Two workers, of whom exactly one runs: at each effect a seeded coin chooses the next."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._changed = threading.Condition()
        self._running: list[str] = []
        self._turn = ""

    def join(self, *names: str) -> None:
        """Announces the workers before any of them starts."""
        with self._changed:
            self._running = list(names)
            self._turn = self._chance.choice(self._running)

    def wait(self, name: str) -> None:
        """Blocks until it is this worker's turn."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._turn == name, STUCK_S):
                raise TimeoutError(f"worker {name} waited {STUCK_S:g} s for {self._turn}: a worker waits for a lock")

    def offer(self, name: str) -> None:
        """Perhaps passes the turn to the other worker."""
        with self._changed:
            self._turn = self._chance.choice(self._running)
            self._changed.notify_all()
        self.wait(name)

    def leave(self, name: str) -> None:
        """This worker is done."""
        with self._changed:
            self._running.remove(name)
            if self._running:
                self._turn = self._running[0]
            self._changed.notify_all()


@dataclass
class FaultPoint:
    """One process: its effects so far, and where it dies."""

    death: Death | None = None
    turns: Turns | None = None
    name: str = ""
    effects: int = 0
    dead: bool = False
    trail: list[str] = field(default_factory=list)
    _of_kind: dict[str, int] = field(default_factory=dict)

    def alive(self) -> None:
        """A dead process does nothing more, not even in its `finally` blocks."""
        if self.dead:
            raise Killed

    @contextlib.contextmanager
    def effect(self, kind: str, what: str = "") -> Iterator[None]:
        """Wraps one effect."""
        self.alive()
        self.effects += 1
        self._of_kind[kind] = self._of_kind.get(kind, 0) + 1
        self.trail.append(f"{kind} {what}".strip())
        self._die_if(kind, before=True)
        yield
        self._die_if(kind, before=False)
        self.pause()

    def pause(self) -> None:
        """Another worker may run here."""
        if self.turns is not None:
            self.turns.offer(self.name)

    def _die_if(self, kind: str, *, before: bool) -> None:
        death = self.death
        if death is None or death.before != before or death.kind not in {"any", kind}:
            return
        if death.nth == (self.effects if death.kind == "any" else self._of_kind[kind]):
            self.dead = True
            raise Killed


class FaultPointConnection(psycopg.Connection[Any]):
    """A connection whose commits are effects of its process.

    What a process closes, the next one gets as a new session. A backend of its own for each process would cost more than its work.
    """

    fault_point: FaultPoint
    idle: list[FaultPointConnection] | None = None
    """Where it waits for the next process. None: closing it ends it."""
    is_lent = False

    def lend(self, fault_point: FaultPoint) -> Self:
        """To a process."""
        self.fault_point, self.is_lent = fault_point, True
        return self

    def close(self) -> None:
        if self.idle is None:
            super().close()
        elif self.is_lent:
            self.is_lent = False
            try:
                self._forget_session()
            except psycopg.Error:
                super().close()
            else:
                self.idle.append(self)

    def _forget_session(self) -> None:
        """Ends everything that would end with the session. Only its prepared plans stay."""
        if self.info.transaction_status not in {
            TransactionStatus.IDLE,
            TransactionStatus.INTRANS,
            TransactionStatus.INERROR,
        }:
            raise psycopg.OperationalError("a statement was at work when its process died")
        self.rollback()
        self.autocommit = True
        self.execute(FORGET)
        self.autocommit = False

    def commit(self) -> None:
        if self.autocommit:
            super().commit()
            return
        with self.fault_point.effect("commit"):
            super().commit()


class FaultPointLake(Lake):
    """A lake whose publishing is an effect of its process."""

    def __init__(self, root: str, fault_point: FaultPoint) -> None:
        super().__init__(root)
        self._fault_point = fault_point

    def _publish(self, name: str, path: str) -> None:
        with self._fault_point.effect("rename", path.split("/", 1)[0]):
            super()._publish(name, path)


class FaultPointClock:
    """The world's clock as one process sees it: while it sleeps, the other worker may run."""

    def __init__(self, clock: VirtualClock, fault_point: FaultPoint) -> None:
        self._clock = clock
        self._fault_point = fault_point
        self.now = clock.now
        self.monotonic_s = clock.monotonic_s

    def sleep(self, seconds: float) -> None:
        self._fault_point.alive()
        self._clock.sleep(seconds)
        self._fault_point.pause()


BODY_MAX = 16 * 1024 * 1024


def _up_to_the_end_or_too_much(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """A file of the sandbox may have no end; the client leaves it long before this."""
    taken = 0
    for piece in pieces:
        yield piece
        taken += len(piece)
        if taken > BODY_MAX:
            return


class FaultPointTransport(httpx.BaseTransport):
    """Real HTTP whose requests are effects of their process; each takes a little time."""

    def __init__(
        self,
        inner: httpx.BaseTransport,
        fault_point: FaultPoint,
        clock: VirtualClock,
        chance: random.Random,
        wire: Listed,
    ) -> None:
        self._inner = inner
        self._fault_point = fault_point
        self._clock = clock
        self._chance = chance
        self._wire = wire

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._fault_point.alive()
        self._clock.sleep(self._chance.choice((0.0, 0.0, 0.02, 0.3)))
        self._wire.leaves(request)
        with self._fault_point.effect("request", f"{request.method} {request.url.path.rsplit('/', 1)[-1]}"):
            answer = self._inner.handle_request(request)
            try:
                raw = b"".join(_up_to_the_end_or_too_much(answer.stream))  # type: ignore[arg-type]  # a stream of the sync kind
            finally:
                answer.close()
            self._wire.record(request, answer.status_code, raw)
        return httpx.Response(
            answer.status_code, headers=answer.headers, stream=httpx.ByteStream(raw), extensions=answer.extensions
        )
