"""The platform as one object: storage, clock, faults, journal, due work, and identifiers that a seed repeats."""

from __future__ import annotations

import random
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import httpx
from fastapi import Depends, Request
from sqlalchemy import Connection

from partner_sandbox.clock import Clock, Work
from partner_sandbox.faults import Faults
from partner_sandbox.journal import Journal
from partner_sandbox.request_limit import Limiter
from partner_sandbox.settings import Behaviour, SandboxSettings, behaviour_of
from partner_sandbox.storage import Storage


class Ids:
    """UUIDs and secrets; the same ones again for the same seed, and others after a restart of the same folder."""

    def __init__(self, seed: int | None) -> None:
        self._seed = seed
        self._starts = 0
        self._lock = threading.Lock()
        self._random: random.Random = random.SystemRandom()
        self.restart()

    def restart(self, starts: int | None = None) -> None:
        """Begins the sequence again; `starts`: how often the folder was opened before."""
        with self._lock:
            self._starts = self._starts if starts is None else starts
            seed = f"{self._seed} {self._starts}" if self._starts else self._seed
            self._random = random.SystemRandom() if self._seed is None else random.Random(seed)  # noqa: S311  seeded on purpose

    def uuid(self) -> str:
        """A version 4 UUID in text."""
        with self._lock:
            digits = f"{self._random.getrandbits(128):032x}"
        variant = "89ab"[int(digits[16], 16) % 4]
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"

    def secret(self) -> str:
        """An opaque text that cannot be guessed (or, with a seed, that a test can repeat)."""
        if self._seed is None:
            return secrets.token_urlsafe(32)
        with self._lock:
            return f"{self._random.getrandbits(256):064x}"


STORAGE_URL = "http://storage.partner-sandbox.invalid"
"""Where presigned links lead while no server has opened the storage host."""
Seed = Callable[[Connection], None]


@dataclass(frozen=True)
class Runner:
    """The work of one kind of job; it takes the sandbox and the job."""

    conclude: Callable[[Sandbox, Any, Any], str | None]
    """In the transaction that ends the job, with what `pieces` returned. Returns the final state; None means COMPLETED."""
    pieces: Callable[[Sandbox, Any], Any] = lambda *_: None
    """Before it: bulk work in transactions of its own, so that other requests get their turn. A restart does all of them again."""


class Sandbox:
    """Everything that a request, a job or a person at the control plane can reach."""

    def __init__(
        self, settings: SandboxSettings, *, seed: Seed, webhook_transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.settings = settings
        self.behaviour: Behaviour = behaviour_of(settings.dialect, **settings.behaviour)
        self.clock = Clock(virtual=settings.clock == "virtual", start=settings.clock_start)
        self.ids = Ids(settings.seed)
        self.storage = Storage(settings.data)
        self.journal = Journal(self.storage)
        self.limiter = Limiter()
        self.faults = Faults()
        self.work = Work(self.clock, lambda: self.storage.changes)
        self.webhook_transport = webhook_transport
        self.storage_url = settings.storage_url or STORAGE_URL
        self.runners: dict[str, Runner] = {}
        self.close_port: Callable[[float], None] | None = None
        """Closes the server's port for some seconds; None in a process without one."""
        self._seed = seed

    def open(self) -> None:
        """Opens the storage; seeds it when it is new."""
        self.storage.open()
        self.ids.restart(self.storage.starts)
        with self.storage.begin() as connection:
            self._seed(connection)
        self.journal.open()

    def reset(self) -> None:
        """Restores the initial state: the seed, no assortment, no jobs, no faults, the dialect of the start."""
        self.storage.clear()
        self.clock.restart()
        self.ids.restart()
        self.limiter.clear()
        self.journal.clear()
        self.faults.clear()
        self.behaviour = behaviour_of(self.settings.dialect, **self.settings.behaviour)
        with self.storage.begin() as connection:
            self._seed(connection)
        self.work.wake()

    def close(self) -> None:
        self.storage.close()


def sandbox_of(request: Request) -> Sandbox:
    """The platform behind this app."""
    sandbox: Sandbox = request.app.state.sandbox
    return sandbox


TheSandbox = Annotated[Sandbox, Depends(sandbox_of)]
