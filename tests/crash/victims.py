"""Kills one process, or all processes of a service, with -9. The state folder of `make up` names them."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    import random
    from pathlib import Path

VICTIMS = ("task", "worker", "scheduler", "triggerer", "api-server", "receiver", "postgres")
"""`task` is the process of a running task, `worker` the one that watches over it."""
GONE_S = 2.0
SAME_INSTANT_S = 5.0
"""The start time of a process is read from a clock that may be set; another process with the same number began at another time."""


def kill(home: Path, victim: str, chance: random.Random) -> int:
    """Kills it; how many processes that were. None of a kind may be there just now: then 0."""
    processes = _processes(home, victim)
    if victim in {"task", "worker"} and processes:
        processes = [chance.choice(processes)]
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=GONE_S)  # a process that dies still looks alive for a moment
    return len(processes)


def leader(home: Path, service: str) -> psutil.Process | None:
    """The first process of a service, if it lives; `HOME/run/SERVICE.pid` names it."""
    try:
        noted = json.loads((home / "run" / f"{service}.pid").read_text("ascii"))
        process = psutil.Process(noted["pid"])
        same = abs(process.create_time() - noted["created_s"]) < SAME_INSTANT_S
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except (FileNotFoundError, ValueError, psutil.NoSuchProcess):
        return None


def is_up(home: Path, victim: str) -> bool:
    """Whether what was killed runs again; a task and its worker are not waited for."""
    if victim in {"task", "worker"}:
        return True
    return bool(_server(home)) if victim == "postgres" else leader(home, victim) is not None


def _processes(home: Path, victim: str) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        if victim == "postgres":
            return _server(home)
        first = leader(home, "scheduler" if victim in {"task", "worker"} else victim)
        if first is None:
            return []
        if victim == "task":
            return [task for worker in first.children() for task in worker.children()]
        if victim == "worker":
            return [worker for worker in first.children() if worker.children()]
        return [*first.children(recursive=True), first]
    return []


def _server(home: Path) -> list[psutil.Process]:
    """The embedded server with all its sessions: found by its data folder, so that no other server is killed."""
    folder = f"{home}/"
    leaders = [
        process
        for process in psutil.process_iter()
        if _attribute(process, "name") == "postgres"
        and any(argument.startswith(folder) for argument in _command(process))
    ]
    return [process for leader in leaders for process in (leader, *leader.children(recursive=True))]


def _attribute(process: psutil.Process, what: str) -> str:
    with contextlib.suppress(psutil.Error):
        return str(getattr(process, what)())
    return ""


def _command(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []
