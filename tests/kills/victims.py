"""Whom a kill strikes: one process, or all of a service, always with -9."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    import random

    from shelfsync.stack.stack import RunningStack

VICTIMS = ("task", "worker", "scheduler", "triggerer", "api-server", "receiver", "postgres")
"""`task` is the process of a running task, `worker` the one that watches over it."""


def kill(stack: RunningStack, victim: str, chance: random.Random) -> int:
    """Kills it; how many processes that were. None of a kind may be there just now: then 0."""
    found = _processes(stack, victim)
    if victim in {"task", "worker"} and found:
        found = [chance.choice(found)]
    for process in found:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    return len(found)


def _processes(stack: RunningStack, victim: str) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        if victim == "postgres":
            return _server(stack)
        service = "scheduler" if victim in {"task", "worker"} else victim
        pid = stack.processes.pid(service)
        if pid is None:
            return []
        leader = psutil.Process(pid)
        if victim == "task":
            return [task for worker in leader.children() for task in worker.children()]
        if victim == "worker":
            return [worker for worker in leader.children() if worker.children()]
        return [*leader.children(recursive=True), leader]
    return []


def _server(stack: RunningStack) -> list[psutil.Process]:
    """The embedded server with all its sessions: found by its data folder, so that no other server is struck."""
    folder = str(stack.place.home)
    leaders = [
        process
        for process in psutil.process_iter()
        if _said(process, "name") == "postgres" and any(word.startswith(folder) for word in _command(process))
    ]
    return [one for leader in leaders for one in (leader, *leader.children(recursive=True))]


def _said(process: psutil.Process, what: str) -> str:
    with contextlib.suppress(psutil.Error):
        return str(getattr(process, what)())
    return ""


def _command(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []
