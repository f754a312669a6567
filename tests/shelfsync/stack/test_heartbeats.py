"""A service that runs and gives no sign of life is ended, so that it is started again; nobody is blamed for what another one is missing."""

from __future__ import annotations

import json
import socket
import time
from typing import TYPE_CHECKING

import pytest

from shelfsync.stack.health import said
from shelfsync.stack.heartbeats import LOOK_EVERY_S, Heartbeats
from shelfsync.stack.place import Place
from shelfsync.stack.processes import Processes
from shelfsync.stack.services import Service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IDLES = ("python", "-c", "import time; time.sleep(600)")
SILENT_S = 60.0


class Stack:
    """An API server that says what a test wants it to, a scheduler, and a receiver that listens and never answers."""

    def __init__(self, folder: Path) -> None:
        self.place = Place(folder / "state")
        self.place.make()
        self.processes = Processes(self.place)
        self.folder = folder
        self.said: list[str] = []
        self.now_s = 1000.0
        self.deaf = socket.create_server(("127.0.0.1", 0))
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        serve = ("python", "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(folder))
        self.services = {
            "api-server": Service("api-server", serve, {}, f"http://127.0.0.1:{port}/health"),
            "scheduler": Service("scheduler", IDLES, {}),
            "receiver": Service("receiver", IDLES, {}),
        }
        self.beats()
        for service in self.services.values():
            self.processes.start(service, {})
        deadline_s = time.monotonic() + 20
        while said(self.services["api-server"].health) != 200:
            assert time.monotonic() < deadline_s
            time.sleep(0.05)
        self.heartbeats = Heartbeats(
            self.processes,
            self.services,
            say=self.said.append,
            silent_s=SILENT_S,
            patience_s=1.0,
            monotonic_s=lambda: self.now_s,
        )

    def beats(self, **sick: str) -> None:
        parts = {part: {"status": "healthy"} for part in ("metadatabase", "scheduler", "triggerer", "dag_processor")}
        partial = self.folder / "partial"
        partial.write_text(json.dumps(parts | {part: {"status": word} for part, word in sick.items()}), "utf-8")
        partial.replace(self.folder / "health")

    def watch(self, seconds: float) -> None:
        """So long a time, with all the looks that are due in it."""
        for _ in range(int(seconds / LOOK_EVERY_S)):
            self.heartbeats.watch()
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
    made.deaf.close()
    made.processes.stop(made.services, grace_s=0.1)


def test_a_scheduler_without_a_heartbeat_is_ended_after_its_time_and_not_before(stack: Stack) -> None:
    stack.watch(600)
    assert stack.said == []
    stack.beats(scheduler="unhealthy")
    stack.watch(SILENT_S)
    assert stack.said == []
    assert stack.processes.alive("scheduler")
    stack.watch(LOOK_EVERY_S)
    assert stack.ended("scheduler")
    assert stack.said == ["scheduler runs and has given no sign of life for 60 s: killed"]
    assert stack.processes.alive("api-server")


def test_one_that_beats_again_or_is_started_again_has_its_whole_time_anew(stack: Stack) -> None:
    stack.beats(scheduler="unhealthy")
    stack.watch(SILENT_S)
    stack.beats()
    stack.watch(LOOK_EVERY_S)
    stack.beats(scheduler="unhealthy")
    stack.watch(SILENT_S)
    stack.processes.stop(["scheduler"], grace_s=0.1)
    stack.processes.start(stack.services["scheduler"], {})
    stack.watch(SILENT_S)
    assert stack.processes.alive("scheduler")
    assert stack.said == []


def test_nobody_is_ended_because_the_database_or_the_api_server_is_away(stack: Stack) -> None:
    stack.beats(metadatabase="unhealthy", scheduler="unhealthy")
    stack.watch(600)
    stack.processes.stop(["api-server"], grace_s=0.1)
    stack.watch(600)
    assert stack.said == []
    assert stack.processes.alive("scheduler")


def test_one_that_listens_and_never_answers_is_ended(stack: Stack) -> None:
    receiver = Service("receiver", IDLES, {}, f"http://127.0.0.1:{stack.deaf.getsockname()[1]}/health")
    stack.services["receiver"] = receiver
    stack.watch(SILENT_S + LOOK_EVERY_S)
    assert stack.ended("receiver")
    assert stack.processes.alive("scheduler")


def test_an_answer_that_tells_of_trouble_is_a_sign_of_life(stack: Stack) -> None:
    """A receiver whose database is away says so, and must live to say it."""
    missing = stack.services["api-server"].health.replace("/health", "/nothing-here")
    stack.services["receiver"] = Service("receiver", IDLES, {}, missing)
    stack.watch(600)
    assert stack.processes.alive("receiver")
    assert stack.said == []
