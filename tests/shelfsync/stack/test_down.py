"""`make down` stops what runs here, and says so when there is nothing."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from shelfsync.settings import Settings
from shelfsync.stack.down import down
from shelfsync.stack.place import Place
from shelfsync.stack.postgres import EmbeddedPostgres, running_postgres
from shelfsync.stack.processes import Processes
from shelfsync.stack.services import Service
from shelfsync.stack.stack import living

if TYPE_CHECKING:
    from pathlib import Path

STACK = """
import json, os, pathlib, signal, sys
from shelfsync.stack.lock import FileLock
run = pathlib.Path(sys.argv[1])
lock = FileLock(run / "stack.lock")
lock.take()
(run / "stack.json").write_text(json.dumps({"what": "make up", "pid": os.getpid()}))
print("up", flush=True)
signal.pause()
"""


def test_where_nothing_runs_it_says_that_all_is_stopped(tmp_path: Path) -> None:
    said: list[str] = []
    down(Settings(home=tmp_path / "never used"), say=said.append)
    assert said == ["everything is stopped"]


def test_a_living_stack_is_asked_to_end_and_waited_for(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.make()
    said: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-c", STACK, str(place.run)], stdout=subprocess.PIPE, env={"PYTHONPATH": ":".join(sys.path)}
    ) as stack:
        assert stack.stdout.readline() == b"up\n"
        assert living(place) == {"what": "make up", "pid": stack.pid}
        down(Settings(home=tmp_path), say=said.append)
        assert stack.wait(timeout=10) == -15
    assert living(place) is None
    assert said == [f"stopping `make up` (process {stack.pid})", "everything is stopped"]


def test_what_a_killed_stack_left_is_stopped(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.make()
    said: list[str] = []
    killed = Processes(place)
    killed.start(Service("scheduler", ("python", "-c", "import time; time.sleep(600)"), {}), {})
    down(Settings(home=tmp_path), say=said.append)
    assert said == ["stopping what an earlier run left: scheduler", "everything is stopped"]
    assert killed.exit_code("scheduler") is not None


def test_a_database_that_was_left_running_is_stopped_but_not_under_somebody_who_uses_it(reachable_folder: Path) -> None:
    home = reachable_folder / "down"
    said: list[str] = []
    EmbeddedPostgres(home, fsync=False).ensure_started()
    with running_postgres(home, fsync=False):
        down(Settings(home=home), say=said.append)
        assert said == ["PostgreSQL stays up: a command is using it, and will stop it at its end"]
        assert EmbeddedPostgres(home).status().running
    down(Settings(home=home), say=said.append)
    assert said[-1] == "everything is stopped"
    assert not EmbeddedPostgres(home).status().running
