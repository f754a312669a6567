"""A soak run: the events of each actor at their times, from outside the installation, each with a line in the log."""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

import httpx
import psycopg
import sqlalchemy as sa

from documents import data
from installation.installed import PROJECT
from soak.plan import plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from installation.installed import Installation
    from installation.second_chain import SecondChain
    from soak.plan import Event

UNAVAILABLE = (psycopg.OperationalError, psycopg.InterfaceError, sa.exc.DBAPIError, httpx.HTTPError)
"""Errors that a killed process or a closed port causes in the others."""
RETRY_S = 60.0
"""For so long an action is retried while a part that it needs is unavailable."""
HELD = 10
"""How a command ends that did its work, while held changes wait for a person."""
COMMAND_S = 300.0
FIRST_CHAIN = "demo"
"""Its name in the settings: that of the chain that was alone before the second came."""


class NotPossibleError(Exception):
    """The platform rejects that now: the product is off sale, or the order has ended."""


@dataclass
class SoakRun:
    """One soak of one installation. `report` prints a line. `troubles` has every violation."""

    installation: Installation
    second_chain: SecondChain
    seed: int
    report: Callable[[str], None]
    log: Path
    done: Counter[str] = field(default_factory=Counter)
    not_possible: Counter[str] = field(default_factory=Counter)
    killed: Counter[str] = field(default_factory=Counter)
    left_over: Counter[str] = field(default_factory=Counter)
    """How often a question of Airflow that was left over got each answer."""
    troubles: list[str] = field(default_factory=list)
    campaigns: list[str] = field(default_factory=list)
    closed: dict[int, tuple[str, list[int]]] = field(default_factory=dict)
    ended: threading.Event = field(default_factory=threading.Event)
    _began_s: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, minutes: float, victims: Sequence[str], actions: dict[str, Callable[[SoakRun, Event], str]]) -> None:
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
        """A violation: it must not happen, whichever process was killed."""
        self.note(f"TROUBLE {text}")
        self.troubles.append(text)

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        """`shelfsync …` for the first chain in a separate process, with the settings of the installation. A traceback counts as a failure."""
        settings = {name: value for name, value in self.installation.settings.items() if name.startswith("SHELFSYNC_")}
        settings["SHELFSYNC_CHAIN"] = FIRST_CHAIN
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
            raise NotPossibleError(f"shelfsync {' '.join(words)} was too slow") from None
        if "Traceback" in ended.stderr + ended.stdout:
            self.trouble(f"shelfsync {' '.join(words)} ended with a traceback: {ended.stderr[-1500:]}")
        return ended

    def document(self, *words: str) -> dict[str, Any]:
        """What a command prints with --json."""
        ended = self.command(*words, "--json")
        if ended.returncode not in {0, HELD}:
            raise NotPossibleError(f"shelfsync {' '.join(words)}: {ended.returncode} {ended.stderr.strip()[-300:]}")
        return dict(data(ended.stdout))

    def sandbox(self, method: str, path: str, body: Any = None) -> Any:
        """The sandbox's control plane; NotPossibleError for what it rejects."""
        try:
            return self.installation.sandbox(method, path, body)
        except AssertionError as error:
            raise NotPossibleError(str(error)[:300]) from None

    def _act(self, events: list[Event], actions: dict[str, Callable[[SoakRun, Event], str]]) -> None:
        for event in events:
            if self.ended.wait(max(0.0, self._began_s + event.at_s - time.monotonic())):
                return
            self._perform(event, actions[event.action])

    def _perform(self, event: Event, action: Callable[[SoakRun, Event], str]) -> None:
        """One event. While a part that it needs is unavailable, it is retried; what is not possible is logged and skipped."""
        until_s = time.monotonic() + RETRY_S
        name = f"{event.action} {event.number}"
        while True:
            try:
                result = action(self, event)
            except NotPossibleError as error:
                self.not_possible[event.action] += 1
                return self.note(f"{name}: not possible: {error}")
            except UNAVAILABLE as error:
                if time.monotonic() > until_s:
                    self.not_possible[event.action] += 1
                    return self.note(f"{name}: given up, a part is unavailable: {str(error)[:200]}")
                self.ended.wait(1.0)
            except Exception as error:  # noqa: BLE001  the soak goes on, and fails at its end
                return self.trouble(f"{name} broke off: {error!r}"[:500])
            else:
                if result:
                    self.done[event.action] += 1
                return self.note(f"{name}: {result or 'nothing to do'}")


def _write(file: TextIO, at_s: float, text: str) -> None:
    file.write(f"{time.strftime('%H:%M:%S', time.gmtime())} {at_s:8.1f} s  {text}\n")


@contextlib.contextmanager
def still(soak_run: SoakRun) -> Any:
    """Ignores unavailable parts: for figures that no claim needs."""
    with contextlib.suppress(*UNAVAILABLE, AssertionError, NotPossibleError):
        yield soak_run
