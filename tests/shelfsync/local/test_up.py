"""`make down` stops what runs here, and reports if nothing runs."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from shelfsync.local.postgres import EmbeddedPostgres, running_postgres
from shelfsync.local.processes import Processes
from shelfsync.local.services import Service
from shelfsync.local.stack import living
from shelfsync.local.state_folder import Place
from shelfsync.local.up import down
from shelfsync.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

STACK = """
import json, os, pathlib, signal, sys
from shelfsync.local.file_lock import FileLock
run = pathlib.Path(sys.argv[1])
lock = FileLock(run / "stack.lock")
lock.take()
(run / "stack.json").write_text(json.dumps({"what": "make up", "pid": os.getpid()}))
print("up", flush=True)
signal.pause()
"""


def test_if_nothing_runs_it_reports_that_everything_is_stopped(tmp_path: Path) -> None:
    lines: list[str] = []
    down(Settings(home=tmp_path / "never used"), echo=lines.append)
    assert lines == ["everything is stopped"]


@pytest.mark.slow
def test_a_living_stack_is_asked_to_end_and_waited_for(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.make()
    lines: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-c", STACK, str(place.run)], stdout=subprocess.PIPE, env={"PYTHONPATH": ":".join(sys.path)}
    ) as stack:
        assert stack.stdout.readline() == b"up\n"
        assert living(place) == {"what": "make up", "pid": stack.pid}
        down(Settings(home=tmp_path), echo=lines.append)
        assert stack.wait(timeout=10) == -15
    assert living(place) is None
    assert lines == [f"stopping `make up` (process {stack.pid})", "everything is stopped"]


LINGERING = STACK.replace(
    'print("up", flush=True)',
    """
import time
def end(*_):
    lock.release()
    time.sleep(1.5)
    os._exit(3)
signal.signal(signal.SIGTERM, end)
print("up", flush=True)
""",
)


@pytest.mark.slow
def test_a_stack_that_has_given_up_its_lock_is_waited_for_until_it_has_ended(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.make()
    with subprocess.Popen(
        [sys.executable, "-c", LINGERING, str(place.run)],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": ":".join(sys.path)},
    ) as stack:
        assert stack.stdout.readline() == b"up\n"
        down(Settings(home=tmp_path), echo=lambda _: None)
        assert stack.poll() == 3


def test_what_a_killed_stack_left_is_stopped(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.make()
    lines: list[str] = []
    killed = Processes(place)
    killed.start(Service("scheduler", ("python", "-c", "import time; time.sleep(600)"), {}), {})
    down(Settings(home=tmp_path), echo=lines.append)
    assert lines == ["stopping what an earlier run left: scheduler", "everything is stopped"]
    assert killed.exit_code("scheduler") is not None


@pytest.mark.slow
def test_a_database_left_running_is_stopped_unless_another_process_uses_it(reachable_folder: Path) -> None:
    home = reachable_folder / "down"
    lines: list[str] = []
    EmbeddedPostgres(home, fsync=False).ensure_started()
    with running_postgres(home, fsync=False):
        down(Settings(home=home), echo=lines.append)
        assert lines == ["PostgreSQL stays up: a command is using it, and will stop it at its end"]
        assert EmbeddedPostgres(home).status().running
    down(Settings(home=home), echo=lines.append)
    assert lines[-1] == "everything is stopped"
    assert not EmbeddedPostgres(home).status().running
