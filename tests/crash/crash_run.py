"""A whole installation at work: the ERP changes, delta runs and recovery runs follow each other, and the run kills processes."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import httpx
from sqlalchemy.exc import DBAPIError

from crash.victims import VICTIMS, kill
from shelfsync.erp import sample
from shelfsync.errors import ShelfsyncError
from shelfsync.local import demo, sample_chain
from shelfsync.local.airflow_api import AirflowApi, run_dag, wait_known
from shelfsync.local.ports import LOOPBACK, remember_port
from shelfsync.local.stack import running_stack
from shelfsync.local.state_folder import Place
from shelfsync.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

STORES, PRODUCTS = 4, 250
PAUSES_S = (2.0, 45.0)
"""Between two kills, after what was killed runs again."""
TICK_EVERY_S = 10.0
TICKS_BEHIND = 6
"""At most so many ERP changes wait for a run that succeeds. If more wait, a guard rightly holds them."""
BACK_S = 180.0
SILENT_S = 30.0
QUIESCENT_S = 600.0
UNAVAILABLE = (ShelfsyncError, DBAPIError, OSError, httpx.HTTPError)
"""Errors that a killed process causes in the others."""

QUICK = {
    "AIRFLOW__SHELFSYNC__FULL_SCHEDULE": "none",
    "AIRFLOW__SHELFSYNC__DELTA_SCHEDULE": "none",
    "AIRFLOW__SHELFSYNC__RECOVER_SCHEDULE": "* * * * *",
    "AIRFLOW__SHELFSYNC__RETRY_DELAY_S": "5",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "30",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "5",
    "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "20",
}
"""The same installation as in production, with shorter timeouts, so that fifty kills take half an hour."""


class CrashRun:
    """From an empty folder over fifty kills to a quiescent installation."""

    def __init__(self, home: Path, seed: int, log: Callable[[str], None]) -> None:
        self.killed: Counter[str] = Counter()
        self.runs: Counter[str] = Counter()
        self.ticks = 0
        self._synced_ticks = 0
        self.troubles: list[str] = []
        self._home = home
        self._log = log
        self._chance = random.Random(seed)
        self._ending = threading.Event()
        self._resting = threading.Event()
        self._next_tick_s = 0.0

    @contextlib.contextmanager
    def running(self) -> Iterator[Self]:
        """The installation with its first full sync done, kept up and at work as long as the block lasts."""
        place = Place(self._home)
        place.make()
        for name in ("api-server", "receiver", "sandbox"):
            remember_port(place.run / f"{name}.port", _a_free_port())
        options = replace(demo.stack_options(Settings(home=self._home), what="make crash"), silent_s=SILENT_S)
        options.environment.update(QUICK)
        with running_stack(place, options, echo=self._log) as self.stack:
            self.stack.wait_ready()
            self._furnish()
            watcher = threading.Thread(target=self._watch, name="watcher")
            worker = threading.Thread(target=self._work, name="chain")
            watcher.start()
            worker.start()
            try:
                yield self
            finally:
                self._ending.set()
                worker.join()
                watcher.join()

    def kill_one(self) -> None:
        """The next victim in turn, at a seeded instant; returns when it runs again."""
        self._pause(self._chance.uniform(*PAUSES_S))
        victim = VICTIMS[sum(self.killed.values()) % len(VICTIMS)]
        deadline_s = time.monotonic() + BACK_S
        while not kill(self._home, victim, self._chance):
            if time.monotonic() > deadline_s:
                self.troubles.append(f"no {victim} was there to be killed for {BACK_S:.0f} s")
                return
            time.sleep(0.1)
        self.killed[victim] += 1
        self._log(f"kill {sum(self.killed.values())}: {victim}")
        self._until_back(victim, deadline_s)

    def wait_until_quiescent(self) -> None:
        """Stops the kills. All runs end, then recovery and delta runs succeed twice."""
        self._resting.set()
        deadline_s = time.monotonic() + QUIESCENT_S
        while time.monotonic() < deadline_s:
            try:
                self.stack.wait_ready()
                with AirflowApi(self.stack) as airflow:
                    self._until_all_ended(airflow, deadline_s)
                    for dag_id in (demo.RECOVER, demo.DELTA, demo.RECOVER, demo.DELTA):
                        run_dag(self.stack, airflow, dag_id, lambda _: None)
            except UNAVAILABLE as error:
                self._log(f"not quiescent yet: {str(error)[:300]}")
                self._pause(5)
            else:
                return
        self.troubles.append(f"not quiescent within {QUIESCENT_S:.0f} s")

    def lines(self) -> list[str]:
        """Counts of kills, runs and ERP changes."""
        counts = ", ".join(f"{count} {victim}" for victim, count in self.killed.items())
        return [f"killed: {counts}", f"delta runs: {dict(self.runs)}; {self.ticks} changes of the ERP"]

    def _furnish(self) -> None:
        erp = sample_chain.open_erp(self.stack)
        sample.create(erp, vendors=STORES, skus_per_vendor=PRODUCTS)
        erp.dispose()
        sample_chain.prepare(self.stack, self._log)
        with AirflowApi(self.stack) as airflow:
            for dag_id in (demo.FULL, demo.DELTA, demo.RECOVER):
                wait_known(self.stack, airflow, dag_id)
                airflow.unpause(dag_id)
            run_dag(self.stack, airflow, demo.FULL, lambda _: None)
        self._log("the first full sync is done")

    def _watch(self) -> None:
        """Restarts dead processes, as the process of `make up` does."""
        while not self._ending.wait(0.3):
            try:
                self.stack.watch()
            except Exception as error:  # noqa: BLE001  whatever it is, the next check tries again
                self._log(f"watcher: {error!r}"[:300])

    def _work(self) -> None:
        """There is always a delta run in progress and a change to send."""
        while not self._ending.is_set() and not self._resting.is_set():
            try:
                with AirflowApi(self.stack) as airflow:
                    run_id = airflow.trigger(demo.DELTA)
                    self._follow(airflow, run_id)
            except UNAVAILABLE:
                self._pause(1)

    def _tick(self) -> None:
        """Changes the ERP, whichever processes are dead."""
        if time.monotonic() < self._next_tick_s or self.ticks - self._synced_ticks >= TICKS_BEHIND:
            return
        self._next_tick_s = time.monotonic() + TICK_EVERY_S
        erp = sample_chain.open_erp(self.stack)
        try:
            sample.tick(erp, seed=self.ticks)
        finally:
            erp.dispose()
        self.ticks += 1

    def _follow(self, airflow: AirflowApi, run_id: str) -> None:
        begun_at = self.ticks
        while not (self._resting.is_set() or self._ending.is_set()):
            try:
                self._tick()
                state = airflow.run_state(demo.DELTA, run_id)
            except UNAVAILABLE:
                state = "unknown"
            if state in {"success", "failed"}:
                self.runs[state] += 1
                self._synced_ticks = begun_at if state == "success" else self._synced_ticks
                return
            self._pause(1)

    def _until_back(self, victim: str, deadline_s: float) -> None:
        if victim in {"task", "worker"}:
            return
        while True:
            up = self.stack.postgres.status().running if victim == "postgres" else self.stack.processes.alive(victim)
            if up:
                return
            if time.monotonic() > deadline_s:
                self.troubles.append(f"{victim} was not started again within {BACK_S:.0f} s")
                return
            time.sleep(0.2)

    def _until_all_ended(self, airflow: AirflowApi, deadline_s: float) -> None:
        """Every run that began ends without help."""
        for dag_id in (demo.FULL, demo.DELTA):
            path = f"/api/v2/dags/{dag_id}/dagRuns"
            while left := airflow._call("GET", path, params={"state": ["queued", "running"], "limit": 100})["dag_runs"]:
                if time.monotonic() > deadline_s:
                    run_ids = ", ".join(run["dag_run_id"] for run in left)
                    self.troubles.append(f"{dag_id}: {len(left)} runs are stuck: {run_ids}")
                    return
                time.sleep(1)

    def _pause(self, seconds: float) -> None:
        self._ending.wait(seconds)


def _a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
