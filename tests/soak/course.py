"""The course of a soak: events in their time, actor by actor, from outside the installation; a log of every one of them."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

import httpx
import psycopg
import sqlalchemy as sa

from installation.installed import PROJECT
from soak.plan import plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from installation.installed import Installation
    from soak.plan import Event

AWAY = (psycopg.OperationalError, psycopg.InterfaceError, sa.exc.DBAPIError, httpx.HTTPError)
"""What a part that was just killed, or a closed port, makes everybody else see."""
PATIENCE_S = 60.0
"""An action is tried again for so long while a part that it needs is away."""
COMMAND_S = 300.0


class RefusedError(Exception):
    """The platform will not do that now: a customer wants what is off sale, an order has ended already."""


@dataclass
class Course:
    """One soak of one installation. `say`: prints a line. What goes wrong that never may is in `troubles`."""

    installation: Installation
    seed: int
    say: Callable[[str], None]
    log: Path
    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    killed: Counter[str] = field(default_factory=Counter)
    troubles: list[str] = field(default_factory=list)
    campaigns: list[str] = field(default_factory=list)
    closed: dict[int, tuple[str, list[int]]] = field(default_factory=dict)
    ended: threading.Event = field(default_factory=threading.Event)
    _began_s: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, minutes: float, victims: Sequence[str], actions: dict[str, Callable[[Course, Event], str]]) -> None:
        """Lets everything happen that the plan has for so many minutes; returns when it is over."""
        events = plan(self.seed, minutes, victims)
        self._began_s = time.monotonic()
        actors = {event.actor for event in events}
        threads = [
            threading.Thread(
                target=self._act, args=([event for event in events if event.actor == actor], actions), name=actor
            )
            for actor in sorted(actors)
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        finally:
            self.ended.set()
            for thread in threads:
                thread.join()

    def note(self, text: str) -> None:
        """A line of the log, with its time."""
        with self._lock, self.log.open("a", encoding="utf-8") as file:
            _write(file, time.monotonic() - self._began_s, text)

    def trouble(self, text: str) -> None:
        """Something that never may happen, whatever was killed."""
        self.note(f"TROUBLE {text}")
        self.troubles.append(text)

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`shelfsync …` in a process of its own, with the settings that the installation was brought up with. A traceback is a trouble."""
        settings = {name: value for name, value in self.installation.settings.items() if name.startswith("SHELFSYNC_")}
        try:
            ended = subprocess.run(
                [str(PROJECT / ".venv/bin/shelfsync"), *words],
                cwd=self.installation.home,
                env=self.installation.environment | settings,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=COMMAND_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self.trouble(f"shelfsync {' '.join(words)} has not ended within {COMMAND_S:.0f} s")
            raise RefusedError(f"shelfsync {' '.join(words)} was too slow") from None
        if "Traceback" in ended.stderr + ended.stdout:
            self.trouble(f"shelfsync {' '.join(words)} ended with a traceback: {ended.stderr[-1500:]}")
        return ended

    def document(self, *words: str) -> dict[str, Any]:
        """What a command prints with --json."""
        ended = self.command(*words, "--json")
        if ended.returncode:
            raise RefusedError(f"shelfsync {' '.join(words)}: {ended.returncode} {ended.stderr.strip()[-300:]}")
        return dict(json.loads(ended.stdout))

    def sandbox(self, method: str, path: str, body: Any = None) -> Any:
        """The sandbox's control plane; RefusedError for what it will not do."""
        try:
            return self.installation.sandbox(method, path, body)
        except AssertionError as error:
            raise RefusedError(str(error)[:300]) from None

    def _act(self, events: list[Event], actions: dict[str, Callable[[Course, Event], str]]) -> None:
        for event in events:
            if self.ended.wait(max(0.0, self._began_s + event.at_s - time.monotonic())):
                return
            self._perform(event, actions[event.action])

    def _perform(self, event: Event, action: Callable[[Course, Event], str]) -> None:
        """One event. While a part is away that it needs, it is tried again; what is refused is noted, and left."""
        until_s = time.monotonic() + PATIENCE_S
        name = f"{event.action} {event.number}"
        while True:
            try:
                told = action(self, event)
            except RefusedError as error:
                self.refused[event.action] += 1
                return self.note(f"{name}: refused: {error}")
            except AWAY as error:
                if time.monotonic() > until_s:
                    self.refused[event.action] += 1
                    return self.note(f"{name}: given up, a part is away: {str(error)[:200]}")
                self.ended.wait(1.0)
            except Exception as error:  # noqa: BLE001  the soak goes on, and fails at its end
                return self.trouble(f"{name} broke off: {error!r}"[:500])
            else:
                if told:
                    self.done[event.action] += 1
                return self.note(f"{name}: {told or 'nothing to do'}")


def _write(file: TextIO, at_s: float, text: str) -> None:
    file.write(f"{time.strftime('%H:%M:%S', time.gmtime())} {at_s:8.1f} s  {text}\n")


@contextlib.contextmanager
def still(course: Course) -> Any:
    """Whatever is away is away: for reading figures that do not matter to a claim."""
    with contextlib.suppress(*AWAY, AssertionError, RefusedError):
        yield course
