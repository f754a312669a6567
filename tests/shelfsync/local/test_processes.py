"""Background processes: found again, stopped with all they started, never mistaken for others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from shelfsync.local.processes import Processes, resolved
from shelfsync.local.services import Service
from shelfsync.local.state_folder import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; print('child', flush=True); time.sleep(600)"])
print("family", os.getpid(), child.pid, flush=True)
time.sleep(600)
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(600)
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.make()
    return place


@pytest.fixture
def processes(place: Place) -> Iterator[Processes]:
    processes = Processes(place)
    yield processes
    processes.stop(processes.known(), grace_s=0.1)


def service(name: str, program: str) -> Service:
    return Service(name, ("python", "-c", program), {})


def wait_until(condition: Callable[[], bool], timeout_s: float = 10.0) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, "did not happen in time"
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    """Also a dead process whose exit code no process has read."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def lines(processes: Processes, name: str, word: str) -> list[int]:
    """The numbers in the line of the log that begins with `word`."""
    wait_until(lambda: any(line.startswith(word) for line in processes.last_lines(name)))
    line = next(line for line in processes.last_lines(name) if line.startswith(word))
    return [int(number) for number in line.split()[1:]]


def test_stopping_ends_the_process_and_what_it_started(processes: Processes) -> None:
    processes.start(service("family", FAMILY), {})
    parent, child = lines(processes, "family", "family")
    assert os.getsid(child) == parent
    processes.stop(["family"])
    assert is_gone(child)
    assert processes.known() == []


def test_children_whose_parent_was_killed_are_found_by_another_process_and_stopped(
    place: Place, processes: Processes
) -> None:
    processes.start(service("family", FAMILY), {})
    parent, child = lines(processes, "family", "family")
    os.kill(parent, signal.SIGKILL)
    wait_until(lambda: processes.exit_code("family") is not None)
    later = Processes(place)
    assert not later.alive("family")
    assert later.known() == ["family"]
    later.stop(later.known())
    wait_until(lambda: is_gone(child))
    assert later.known() == []


def test_one_that_does_not_listen_is_killed(processes: Processes) -> None:
    processes.start(service("stubborn", STUBBORN), {})
    lines(processes, "stubborn", "ready")
    began_s = time.monotonic()
    processes.stop(["stubborn"], grace_s=0.3)
    assert processes.known() == []
    assert time.monotonic() - began_s < 20


def test_a_stranger_that_was_given_the_same_number_is_left_alone(place: Place, processes: Processes) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as stranger:
        born_s = psutil.Process(stranger.pid).create_time()
        (place.run / "lost.pid").write_text(json.dumps({"pid": stranger.pid, "created_s": born_s - 3600}))
        assert not processes.alive("lost")
        assert processes.known() == []
        processes.stop(["lost"])
        assert stranger.poll() is None
        stranger.communicate(b"\n")


@pytest.mark.parametrize("written", ["", "{", '{"pid": 1}', '{"pid": 4194000, "created_s": 1.0}'])
def test_a_broken_or_outdated_pid_file_means_that_nothing_runs(
    place: Place, processes: Processes, written: str
) -> None:
    (place.run / "old.pid").write_text(written)
    assert processes.known() == []
    processes.stop(["old", "never started"])


def test_a_process_gets_exactly_the_environment_it_is_given(processes: Processes) -> None:
    program = "import os; print('env', len(os.environ), flush=True); assert os.environ['ONLY'] == 'this'"
    processes.start(service("env", program), {"ONLY": "this"})
    wait_until(lambda: processes.exit_code("env") is not None)
    assert processes.exit_code("env") == 0
    assert lines(processes, "env", "env")[0] <= 3  # Python and the loader may add their own


def test_the_log_goes_on_over_restarts_and_starts_anew_when_it_has_grown_large(
    place: Place, processes: Processes
) -> None:
    for _ in range(2):
        processes.start(service("short", "print('once')"), {})
        wait_until(lambda: processes.exit_code("short") is not None)
    assert processes.last_lines("short") == ["once", "once"]
    with processes.log("short").open("r+b") as file:
        file.truncate(20_000_001)
    processes.start(service("short", "print('anew')"), {})
    wait_until(lambda: processes.exit_code("short") is not None)
    assert processes.last_lines("short") == ["anew"]


def test_a_command_is_the_one_of_this_environment() -> None:
    assert resolved(("python", "-m", "x")) == [sys.executable, "-m", "x"]
    assert resolved(("airflow", "version"))[0].startswith(str(Path(sys.executable).parent))
    assert resolved(("no-such-program",)) == ["no-such-program"]
