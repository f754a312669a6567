"""Keeps services running: restarts a service that ends, with a growing pause (dag-processor and triggerer end when the database does).

A component of Airflow can run and do nothing: a scheduler that lost its database at the wrong moment waits for ever for a worker that
got no word to end. Who sends Airflow no heartbeat for too long is killed, and so started again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.back_off import back_off_s
from shelfsync.errors import ShelfsyncError
from shelfsync.local.services import API_SERVER, unhealthy_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shelfsync.local.processes import Processes
    from shelfsync.local.services import Service

FIRST_PAUSE_S = 1.0
PAUSE_MAX_S = 30.0
STEADY_S = 60.0
"""A service that has run this long has recovered: its pauses begin anew."""
SILENT_S = 120.0
"""Longer than any component of Airflow takes to start on a slow machine."""
LOOK_EVERY_S = 10.0
"""How often the supervisor requests the heartbeats of Airflow's components."""


class ServiceFailedError(ShelfsyncError):
    """A service does not stay up, or does not become ready. `log_lines` are the last ones of its log."""

    def __init__(self, message: str, service: str, log_lines: list[str]) -> None:
        super().__init__(message)
        self.service = service
        self.log_lines = log_lines


@dataclass
class _State:
    started_s: float
    ends: int = 0
    again_s: float | None = None
    silent_since_s: float | None = None


class Supervisor:
    """Starts `services` with their environments, watches them whenever `watch` is called, stops them."""

    def __init__(
        self,
        processes: Processes,
        services: Sequence[tuple[Service, dict[str, str]]],
        *,
        echo: Callable[[str], None],
        silent_s: float = SILENT_S,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._processes = processes
        self._services = {service.name: (service, environment) for service, environment in services}
        self._echo = echo
        self._silent_s = silent_s
        self._monotonic_s = monotonic_s
        self._states: dict[str, _State] = {}
        self._next_look_s = 0.0

    def start(self) -> None:
        for service, environment in self._services.values():
            self._processes.start(service, environment)
            self._states[service.name] = _State(self._monotonic_s())

    def watch(self, *, ends_max: int | None = None) -> None:
        """Checks all of them once. Raises ServiceFailedError if one has ended more than `ends_max` times in a row."""
        now_s = self._monotonic_s()
        for name, state in self._states.items():
            if state.again_s is None and self._processes.exit_code(name) is not None:
                self._ended(name, state, now_s, ends_max)
            elif state.again_s is not None and now_s >= state.again_s:
                service, environment = self._services[name]
                self._processes.stop([name], grace_s=2.0)  # what it left behind
                self._processes.start(service, environment)
                state.started_s, state.again_s, state.silent_since_s = now_s, None, None
        if now_s >= self._next_look_s:
            self._kill_the_silent(now_s)
            self._next_look_s = self._monotonic_s() + LOOK_EVERY_S

    def stop(self) -> None:
        self._processes.stop(self._services)

    def _kill_the_silent(self, now_s: float) -> None:
        """If the API server or the database is unavailable, the state of the others is unknown, and their time begins anew."""
        api, _ = self._services.get(API_SERVER, (None, None))
        unhealthy = unhealthy_parts(api.health) if api is not None and api.health is not None else []
        for name, state in self._states.items():
            if API_SERVER in unhealthy or name not in unhealthy or state.again_s is not None:
                state.silent_since_s = None
            elif state.silent_since_s is None:
                state.silent_since_s = now_s
            elif now_s - state.silent_since_s >= self._silent_s:
                self._echo(f"{name} runs and has sent no heartbeat for {now_s - state.silent_since_s:.0f} s: killed")
                self._processes.kill(name)

    def _ended(self, name: str, state: _State, now_s: float, ends_max: int | None) -> None:
        code = self._processes.exit_code(name)
        state.ends = 1 if now_s - state.started_s > STEADY_S else state.ends + 1
        if ends_max is not None and state.ends > ends_max:
            raise ServiceFailedError(
                f"{name} ended {state.ends} times in a row, the last time with exit code {code}. Its log: {self._processes.log(name)}",
                name,
                self._processes.last_lines(name),
            )
        pause_s = back_off_s(state.ends, FIRST_PAUSE_S, PAUSE_MAX_S)
        state.again_s = now_s + pause_s
        self._echo(f"{name} ended with exit code {code}: started again in {pause_s:.0f} s.")
