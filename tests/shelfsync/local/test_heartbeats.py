"""A component of Airflow that runs and sends no heartbeat is killed and started again; none is blamed for what another one is missing."""

from __future__ import annotations

import json
import socket
import time
from typing import TYPE_CHECKING

import pytest

from shelfsync.local.processes import Processes
from shelfsync.local.services import Service, answers
from shelfsync.local.state_folder import Place
from shelfsync.local.supervisor import LOOK_EVERY_S, Supervisor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IDLES = ("python", "-c", "import time; time.sleep(600)")
SILENT_S = 60.0


class Stack:
    """An API server that reports what a test wants, and a scheduler."""

    def __init__(self, folder: Path) -> None:
        self.place = Place(folder / "state")
        self.place.make()
        self.processes = Processes(self.place)
        self.folder = folder
        self.messages: list[str] = []
        self.now_s = 1000.0
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        serve = ("python", "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(folder))
        api = Service("api-server", serve, {}, f"http://127.0.0.1:{port}/health")
        self.supervisor = Supervisor(
            self.processes,
            [(api, {}), (Service("scheduler", IDLES, {}), {})],
            echo=self.messages.append,
            silent_s=SILENT_S,
            monotonic_s=lambda: self.now_s,
        )
        self.beats()
        self.supervisor.start()
        deadline_s = time.monotonic() + 20
        while not answers(api.health):
            assert time.monotonic() < deadline_s
            time.sleep(0.05)

    def beats(self, **sick: str) -> None:
        parts = {part: {"status": "healthy"} for part in ("metadatabase", "scheduler", "triggerer", "dag_processor")}
        partial = self.folder / "partial"
        partial.write_text(json.dumps(parts | {part: {"status": word} for part, word in sick.items()}), "utf-8")
        partial.replace(self.folder / "health")

    def watch(self, seconds: float) -> None:
        """So long a time, with all the looks that are due in it."""
        for _ in range(int(seconds / LOOK_EVERY_S)):
            self.supervisor.watch()
            self.now_s += LOOK_EVERY_S

    def ended(self, name: str) -> bool:
        deadline_s = time.monotonic() + 20
        while self.processes.alive(name) and time.monotonic() < deadline_s:
            time.sleep(0.02)
        return not self.processes.alive(name)


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    made = Stack(tmp_path)
    yield made
    made.processes.stop(["api-server", "scheduler"], grace_s=0.1)


@pytest.mark.slow
def test_a_scheduler_without_a_heartbeat_is_replaced_after_its_time_and_not_before(stack: Stack) -> None:
    first = stack.processes.pid("scheduler")
    stack.watch(600)
    assert stack.messages == []
    stack.beats(scheduler="unhealthy")
    stack.watch(SILENT_S)
    assert stack.messages == []
    assert stack.processes.pid("scheduler") == first
    stack.watch(LOOK_EVERY_S)
    assert stack.ended("scheduler")
    assert stack.messages == ["scheduler runs and has sent no heartbeat for 60 s: killed"]
    stack.watch(2 * LOOK_EVERY_S)
    assert stack.messages[1:] == ["scheduler ended with exit code -9: started again in 1 s."]
    assert stack.processes.pid("scheduler") not in {None, first}
    assert stack.processes.alive("api-server")


@pytest.mark.slow
def test_one_that_beats_again_has_its_whole_time_anew(stack: Stack) -> None:
    stack.beats(scheduler="unhealthy")
    stack.watch(SILENT_S)
    stack.beats()
    stack.watch(LOOK_EVERY_S)
    stack.beats(scheduler="unhealthy")
    stack.watch(SILENT_S)
    assert stack.processes.alive("scheduler")
    assert stack.messages == []


def test_one_that_is_started_again_has_its_whole_time_anew(stack: Stack) -> None:
    stack.beats(scheduler="unhealthy")
    stack.watch(SILENT_S)
    stack.processes.kill("scheduler")
    assert stack.ended("scheduler")
    stack.watch(SILENT_S)
    assert stack.messages == ["scheduler ended with exit code -9: started again in 1 s."]
    assert stack.processes.alive("scheduler")


@pytest.mark.slow
def test_none_is_killed_because_the_database_is_away(stack: Stack) -> None:
    stack.beats(metadatabase="unhealthy", scheduler="unhealthy")
    stack.watch(600)
    assert stack.messages == []
    assert stack.processes.alive("scheduler")


@pytest.mark.slow
def test_none_is_killed_because_the_api_server_is_away(stack: Stack) -> None:
    first = stack.processes.pid("scheduler")
    stack.beats(scheduler="unhealthy")
    stack.watch(SILENT_S)
    (stack.folder / "health").write_text("the API server is broken", "utf-8")
    stack.watch(600)
    assert stack.messages == []
    assert stack.processes.pid("scheduler") == first
