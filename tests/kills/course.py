"""A chain at work on a real Airflow: the ERP goes on, delta runs and settlings come one after the other, and something is killed now and then."""

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

from kills.victims import VICTIMS, kill
from shelfsync.erp import sample
from shelfsync.errors import ShelfsyncError
from shelfsync.settings import Settings
from shelfsync.stack import demo, ports, sample_chain
from shelfsync.stack.airflow_api import AirflowApi
from shelfsync.stack.dag_run import run_dag, wait_known
from shelfsync.stack.place import Place
from shelfsync.stack.stack import running_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

STORES, PRODUCTS = 4, 250
PAUSES_S = (2.0, 45.0)
"""Between two kills, after what was killed runs again."""
TICK_EVERY_S = 10.0
TICKS_BEHIND = 6
"""So many changes of the ERP may wait for a run that ends well: much more at once, and a guard would rightly ask."""
BACK_S = 180.0
SILENT_S = 30.0
QUIET_S = 600.0
AWAY = (ShelfsyncError, DBAPIError, OSError, httpx.HTTPError)
"""What a part that was just killed makes everybody else say."""

QUICK = {
    "AIRFLOW__SHELFSYNC__FULL_SCHEDULE": "none",
    "AIRFLOW__SHELFSYNC__DELTA_SCHEDULE": "none",
    "AIRFLOW__SHELFSYNC__SETTLE_SCHEDULE": "* * * * *",
    "AIRFLOW__SHELFSYNC__RETRY_DELAY_S": "5",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "30",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "5",
    "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "20",
}
"""The same installation as in production, with shorter patience, so that fifty kills fit into half an hour."""


class Course:
    """From an empty folder to fifty kills and back to quiet."""

    def __init__(self, home: Path, seed: int, say: Callable[[str], None]) -> None:
        self.killed: Counter[str] = Counter()
        self.runs: Counter[str] = Counter()
        self.ticks = 0
        self._told = 0
        self.troubles: list[str] = []
        self._home = home
        self._say = say
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
            ports.remember(place.run / f"{name}.port", _a_free_port())
        wishes = replace(demo.wishes(Settings(home=self._home), what="make kills"), silent_s=SILENT_S)
        wishes.environment.update(QUICK)
        with running_stack(place, wishes, say=self._say) as self.stack:
            self.stack.wait_ready()
            self._furnish()
            keeper = threading.Thread(target=self._keep, name="keeper")
            worker = threading.Thread(target=self._work, name="chain")
            keeper.start()
            worker.start()
            try:
                yield self
            finally:
                self._ending.set()
                worker.join()
                keeper.join()

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
        self._say(f"kill {sum(self.killed.values())}: {victim}")
        self._until_back(victim, deadline_s)

    def quiet(self) -> None:
        """No more kills: what is going on ends, a last settling and a last delta run go through."""
        self._resting.set()
        deadline_s = time.monotonic() + QUIET_S
        while time.monotonic() < deadline_s:
            try:
                self.stack.wait_ready()
                with AirflowApi(self.stack) as airflow:
                    self._until_all_ended(airflow, deadline_s)
                    for dag_id in (demo.SETTLE, demo.DELTA, demo.SETTLE, demo.DELTA):
                        run_dag(self.stack, airflow, dag_id, lambda _: None)
            except AWAY as error:
                self._say(f"not quiet yet: {str(error)[:300]}")
                self._pause(5)
            else:
                return
        self.troubles.append(f"no quiet within {QUIET_S:.0f} s")

    def lines(self) -> list[str]:
        """What was done."""
        told = ", ".join(f"{count} {victim}" for victim, count in self.killed.items())
        return [f"killed: {told}", f"delta runs: {dict(self.runs)}; {self.ticks} changes of the ERP"]

    def _furnish(self) -> None:
        erp = sample_chain.open_erp(self.stack)
        sample.create(erp, vendors=STORES, skus_per_vendor=PRODUCTS)
        erp.dispose()
        sample_chain.prepare(self.stack, self._say)
        with AirflowApi(self.stack) as airflow:
            for dag_id in (demo.FULL, demo.DELTA, demo.SETTLE):
                wait_known(self.stack, airflow, dag_id)
                airflow.unpause(dag_id)
            run_dag(self.stack, airflow, demo.FULL, lambda _: None)
        self._say("the first full sync is done")

    def _keep(self) -> None:
        """As the process behind `make up` does."""
        while not self._ending.wait(0.3):
            try:
                self.stack.watch()
            except Exception as error:  # noqa: BLE001  whatever it is, the next look tries again
                self._say(f"keeper: {error!r}"[:300])

    def _work(self) -> None:
        """There is always a delta run on its way, and always something new to send."""
        while not self._ending.is_set() and not self._resting.is_set():
            try:
                with AirflowApi(self.stack) as airflow:
                    run_id = airflow.trigger(demo.DELTA)
                    self._follow(airflow, run_id)
            except AWAY:
                self._pause(1)

    def _tick(self) -> None:
        """The ERP goes on, whoever is dead."""
        if time.monotonic() < self._next_tick_s or self.ticks - self._told >= TICKS_BEHIND:
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
            except AWAY:
                state = "unknown"
            if state in {"success", "failed"}:
                self.runs[state] += 1
                self._told = begun_at if state == "success" else self._told
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
        """Every run that was begun comes to an end by itself."""
        for dag_id in (demo.FULL, demo.DELTA):
            path = f"/api/v2/dags/{dag_id}/dagRuns"
            while left := airflow._call("GET", path, params={"state": ["queued", "running"], "limit": 100})["dag_runs"]:
                if time.monotonic() > deadline_s:
                    told = ", ".join(run["dag_run_id"] for run in left)
                    self.troubles.append(f"{dag_id}: {len(left)} runs are stuck: {told}")
                    return
                time.sleep(1)

    def _pause(self, seconds: float) -> None:
        self._ending.wait(seconds)


def _a_free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ports.LOOPBACK, 0))
        return int(probe.getsockname()[1])
