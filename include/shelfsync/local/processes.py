"""Programs in the background: each has its own session and a file, and is stopped with its child processes.

A process id alone proves nothing: after a kill or a restart of the machine it may belong to another process. So the file also holds
when the process began, and only processes of that session are ever signalled.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shelfsync.file_access import UMASK
from shelfsync.local.state_folder import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from shelfsync.local.services import Service
    from shelfsync.local.state_folder import Place

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOG_BYTES_MAX = 20_000_000
ORPHANS_GRACE_S = 3.0
"""Airflow's workers whose scheduler was killed wait for it and do not react to SIGTERM."""
_SAME_INSTANT_S = 5.0
"""The machine's clock may be set while a process runs, and its start time is by that clock."""


@contextmanager
def unwinding() -> Iterator[None]:
    """SIGTERM and SIGHUP raise SystemExit, so that everything is stopped on the way out, as after Ctrl-C.

    Ctrl-C itself is asked for too: a shell starts what it puts in the background with SIGINT ignored.
    """

    def leave(number: int, _frame: object) -> None:
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    with _handling(leave):
        yield


@contextmanager
def held(echo: Callable[[str], None] | None = None) -> Iterator[None]:
    """A signal that comes during the block takes effect after it. `echo` shows the person that the signal has arrived."""
    came: list[int] = []

    def keep(number: int, _frame: object) -> None:
        came.append(number)
        if echo:
            echo("still at it; this must not be left half done")

    with _handling(keep):
        yield
    if came:
        signal.raise_signal(came[0])


@contextmanager
def _handling(handler: Callable[[int, object], None]) -> Iterator[None]:
    """`handler` for all of them during the block. Signals reach the main thread alone: elsewhere nothing is changed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous if previous is not None else signal.SIG_DFL)


@dataclass(frozen=True)
class Leader:
    """The process that a service was started as; its session has the same number."""

    pid: int
    created_s: float


class Processes:
    """The background processes of one place."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, service: Service, environment: dict[str, str]) -> None:
        """Starts `service` with exactly `environment`; its output goes to its log."""
        import psutil

        log = self.log(service.name)
        if log.exists() and log.stat().st_size > LOG_BYTES_MAX:
            log.replace(log.with_suffix(".log.1"))
        with held(), log.open("ab") as given:  # a child that is not written down would be lost
            child = subprocess.Popen(  # noqa: S603  the commands of services.py
                resolved(service.command),
                stdin=subprocess.DEVNULL,
                stdout=given,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
                umask=UMASK,
            )
            self._children[service.name] = child
            with contextlib.suppress(psutil.NoSuchProcess):
                leader = {"pid": child.pid, "created_s": psutil.Process(child.pid).create_time()}
                write_whole(self._file(service.name), json.dumps(leader))

    def exit_code(self, name: str) -> int | None:
        """The exit code of a service that this process started; None while it runs."""
        return self._children[name].poll()

    def alive(self, name: str) -> bool:
        """Whether the first process of the service lives."""
        return self.pid(name) is not None

    def pid(self, name: str) -> int | None:
        leader = self._leader(name)
        return leader.pid if leader and _is(leader) else None

    def kill(self, name: str) -> None:
        """Kills the first process of the service; `stop` ends its child processes."""
        if (pid := self.pid(name)) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def known(self) -> list[str]:
        """The services with living processes, started by this process or by an earlier, killed one."""
        return [file.stem for file in sorted(self._place.run.glob("*.pid")) if self._members([file.stem])]

    def log(self, name: str) -> Path:
        return self._place.logs / f"{name}.log"

    def last_lines(self, name: str, count: int = 25) -> list[str]:
        """The end of a service's log."""
        try:
            with self.log(name).open("rb") as file:
                file.seek(max(0, self.log(name).stat().st_size - 64 * 1024))
                text = file.read().decode("utf-8", errors="replace")
        except FileNotFoundError:
            return []
        return text.splitlines()[-count:]

    def stop(self, names: Iterable[str], *, grace_s: float = 8.0) -> None:
        """Ends the services and their child processes: a signal, a second one after `grace_s`, and a kill after `grace_s` more.

        Asked once, Airflow's scheduler lets running tasks finish; asked twice, it does not. Names that do not run are no matter.
        """
        names = list(names)
        for sign, limit_s in ((signal.SIGTERM, grace_s), (signal.SIGTERM, grace_s), (signal.SIGKILL, 10.0)):
            for pid in self._members(names):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, sign)
            now_s = time.monotonic()
            deadline_s, orphans_s = now_s + limit_s, now_s + ORPHANS_GRACE_S
            while self._members(names) and time.monotonic() < deadline_s:
                if time.monotonic() > orphans_s and not any(self.alive(name) for name in names):
                    break
                time.sleep(0.05)
        for name in names:
            self._file(name).unlink(missing_ok=True)
            if child := self._children.pop(name, None):
                child.wait(timeout=10)

    def _file(self, name: str) -> Path:
        return self._place.run / f"{name}.pid"

    def _leader(self, name: str) -> Leader | None:
        try:
            return Leader(**json.loads(self._file(name).read_text("ascii")))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def _members(self, names: list[str]) -> list[int]:
        """Living processes of the sessions of `names`."""
        for name in names:
            if child := self._children.get(name):
                child.poll()  # so that a dead child does not stay a zombie
        leaders = [leader for name in names if (leader := self._leader(name))]
        return _sessions(leaders) if leaders else []


def _sessions(leaders: list[Leader]) -> list[int]:
    """Living processes whose session one of `leaders` began.

    The kernel gives no new process the number of a session that still has members, so a living process with the leader's number and
    another beginning means that nothing is left of the session.
    """
    import psutil

    sessions = {leader.pid: leader for leader in leaders if not _replaced(leader)}
    found = []
    for process in psutil.process_iter():
        try:
            leader = sessions.get(os.getsid(process.pid))
            if (
                leader
                and process.create_time() > leader.created_s - _SAME_INSTANT_S
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(process.pid)
        except (ProcessLookupError, PermissionError, psutil.Error):
            continue
    return found


def _is(leader: Leader) -> bool:
    """Whether the leader lives."""
    import psutil

    try:
        return not _replaced(leader) and psutil.Process(leader.pid).status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _replaced(leader: Leader) -> bool:
    """Whether another process has the leader's process id now."""
    import psutil

    try:
        return bool(abs(psutil.Process(leader.pid).create_time() - leader.created_s) >= _SAME_INSTANT_S)
    except psutil.Error:
        return False


def resolved(command: tuple[str, ...]) -> list[str]:
    """The command with the program of this environment in front."""
    beside = Path(sys.executable).parent / command[0]
    program = sys.executable if command[0] == "python" else str(beside) if beside.exists() else command[0]
    return [program, *command[1:]]
