"""Keeps services running: what ends is started again, more slowly each time (dag-processor and triggerer end when the database does)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.errors import ShelfsyncError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shelfsync.stack.processes import Processes
    from shelfsync.stack.services import Service

FIRST_PAUSE_S = 1.0
PAUSE_MAX_S = 30.0
STEADY_S = 60.0
"""Who has run this long has recovered: the pauses begin anew."""


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


class Supervisor:
    """Starts `services` with their environments, watches them whenever `watch` is called, stops them."""

    def __init__(
        self,
        processes: Processes,
        services: Sequence[tuple[Service, dict[str, str]]],
        *,
        say: Callable[[str], None],
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._processes = processes
        self._services = {service.name: (service, environment) for service, environment in services}
        self._say = say
        self._monotonic_s = monotonic_s
        self._states: dict[str, _State] = {}

    def start(self) -> None:
        for service, environment in self._services.values():
            self._processes.start(service, environment)
            self._states[service.name] = _State(self._monotonic_s())

    def watch(self, *, ends_max: int | None = None) -> None:
        """One look at all of them; ServiceFailedError when one has ended more than `ends_max` times in a row."""
        now_s = self._monotonic_s()
        for name, state in self._states.items():
            if state.again_s is None and self._processes.exit_code(name) is not None:
                self._ended(name, state, now_s, ends_max)
            elif state.again_s is not None and now_s >= state.again_s:
                service, environment = self._services[name]
                self._processes.stop([name], grace_s=2.0)  # what it left behind
                self._processes.start(service, environment)
                state.started_s, state.again_s = now_s, None

    def stop(self) -> None:
        self._processes.stop(self._services)

    def _ended(self, name: str, state: _State, now_s: float, ends_max: int | None) -> None:
        code = self._processes.exit_code(name)
        state.ends = 1 if now_s - state.started_s > STEADY_S else state.ends + 1
        if ends_max is not None and state.ends > ends_max:
            raise ServiceFailedError(
                f"{name} ended {state.ends} times in a row, the last time with exit code {code}. Its log: {self._processes.log(name)}",
                name,
                self._processes.last_lines(name),
            )
        pause_s = min(PAUSE_MAX_S, FIRST_PAUSE_S * 2 ** (state.ends - 1))
        state.again_s = now_s + pause_s
        self._say(f"{name} ended with exit code {code}: started again in {pause_s:.0f} s.")
