"""A process that ends is started again with a growing back-off, and reported. If a process never starts, the supervisor gives up and shows the end of its log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from shelfsync.local.processes import Processes
from shelfsync.local.services import Service
from shelfsync.local.state_folder import Place
from shelfsync.local.supervisor import ServiceFailedError, Supervisor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENDS = Service("ends", ("python", "-c", "print('cannot go on'); raise SystemExit(7)"), {})
STAYS = Service("stays", ("python", "-c", "import time; time.sleep(600)"), {})


class Watch:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    place = Place(tmp_path)
    place.make()
    processes = Processes(place)
    yield processes
    processes.stop(["ends", "stays"], grace_s=0.1)


def wait_for_end(processes: Processes, name: str) -> None:
    deadline_s = time.monotonic() + 10
    while processes.exit_code(name) is None:
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def test_a_service_that_ends_is_started_again_after_pauses_that_double(processes: Processes) -> None:
    lines: list[str] = []
    clock = Watch()
    supervisor = Supervisor(processes, [(ENDS, {}), (STAYS, {})], echo=lines.append, monotonic_s=clock)
    supervisor.start()
    stays = processes.pid("stays")
    for pause_s in (1, 2, 4, 8):
        wait_for_end(processes, "ends")
        supervisor.watch()
        assert lines[-1] == f"ends ended with exit code 7: started again in {pause_s} s."
        clock.now_s += pause_s - 0.1
        supervisor.watch()
        assert len(processes.last_lines("ends")) == len(lines)
        clock.now_s += 0.2
        supervisor.watch()
    assert processes.pid("stays") == stays


def test_one_that_ran_for_a_minute_begins_with_the_short_pause_again(processes: Processes) -> None:
    lines: list[str] = []
    clock = Watch()
    supervisor = Supervisor(processes, [(ENDS, {})], echo=lines.append, monotonic_s=clock)
    supervisor.start()
    for _ in range(2):
        wait_for_end(processes, "ends")
        clock.now_s += 61
        supervisor.watch()
        assert lines[-1].endswith("in 1 s.")
        clock.now_s += 2
        supervisor.watch()


def test_one_that_does_not_come_up_is_an_error_with_the_end_of_its_log(processes: Processes) -> None:
    clock = Watch()
    supervisor = Supervisor(processes, [(ENDS, {})], echo=lambda _: None, monotonic_s=clock)
    supervisor.start()

    def go_on() -> None:
        for _ in range(10):
            wait_for_end(processes, "ends")
            supervisor.watch(ends_max=2)
            clock.now_s += 31
            supervisor.watch(ends_max=2)

    with pytest.raises(
        ServiceFailedError, match="ends ended 3 times in a row, the last time with exit code 7"
    ) as caught:
        go_on()
    assert caught.value.log_lines[-1] == "cannot go on"


def test_a_service_that_is_killed_from_outside_comes_back(processes: Processes) -> None:
    import os
    import signal

    clock = Watch()
    supervisor = Supervisor(processes, [(STAYS, {})], echo=lambda _: None, monotonic_s=clock)
    supervisor.start()
    first = processes.pid("stays")
    os.kill(first, signal.SIGKILL)
    wait_for_end(processes, "stays")
    supervisor.watch()
    clock.now_s += 1
    supervisor.watch()
    assert processes.alive("stays")
    assert processes.pid("stays") != first
    supervisor.stop()
    assert not processes.alive("stays")
