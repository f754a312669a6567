"""Ends what runs and gives no sign of life, so that the supervisor starts it again.

A process can outlive its use: Airflow's scheduler, when its database was away at the wrong moment, may wait for ever for a worker that
nobody told to end. It is there, and nothing is scheduled any more.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from shelfsync.stack.health import API_SERVER, DAG_PROCESSOR, PATIENCE_S, SCHEDULER, TRIGGERER, said, sick_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shelfsync.stack.processes import Processes
    from shelfsync.stack.services import Service

SILENT_S = 120.0
"""Longer than any of them takes to start on a slow machine."""
LOOK_EVERY_S = 10.0
_BEATING = (SCHEDULER, TRIGGERER, DAG_PROCESSOR)


class Heartbeats:
    """Asks the services, whenever `watch` is called and a look is due; all of it counts from the start of a process."""

    def __init__(
        self,
        processes: Processes,
        services: Mapping[str, Service],
        *,
        say: Callable[[str], None],
        silent_s: float = SILENT_S,
        patience_s: float = PATIENCE_S,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._processes = processes
        self._services = services
        self._say = say
        self._silent_s = silent_s
        self._patience_s = patience_s
        self._monotonic_s = monotonic_s
        self._next_look_s = 0.0
        self._since: dict[tuple[str, int], float] = {}

    def watch(self) -> None:
        """One look, at most every ten seconds: who has been silent for too long is killed."""
        now_s = self._monotonic_s()
        if now_s < self._next_look_s:
            return
        running = {name: pid for name in self._services if (pid := self._processes.pid(name)) is not None}
        silent = self._silent(set(running))
        self._since = {
            (name, pid): self._since.get((name, pid), now_s) for name, pid in running.items() if name in silent
        }
        for (name, _), since_s in self._since.items():
            if now_s - since_s >= self._silent_s:
                self._say(f"{name} runs and has given no sign of life for {now_s - since_s:.0f} s: killed")
                self._processes.kill(name)
        self._next_look_s = self._monotonic_s() + LOOK_EVERY_S

    def _silent(self, running: set[str]) -> set[str]:
        """Who gives no sign of life. Nobody is blamed for the database, and where the API server is away it alone."""
        asked = {name: health for name in running if (health := self._services[name].health)}
        silent = {name for name, health in asked.items() if said(health, patience_s=self._patience_s) is None}
        if API_SERVER in asked and API_SERVER not in silent:
            sick = sick_parts(asked[API_SERVER])
            silent |= set() if API_SERVER in sick else running & set(sick) & set(_BEATING)
        return silent
