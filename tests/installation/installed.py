"""A whole installation as `make up` starts it, and how a user reaches it: commands, REST, pages, SQL, the sandbox's control plane.

Nothing of shelfsync is imported: what cannot be seen from outside is not claimed here.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import time
import tomllib
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import psycopg
from psycopg.rows import dict_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROJECT = Path(__file__).resolve().parents[2]
USER = "admin"
CHAIN = "demo-chain"
UP_TIMEOUT_S = 900.0
COMMAND_TIMEOUT_S = 600.0
RUN_TIMEOUT_S = 900.0
ENDED = frozenset({"success", "failed"})

SCHEDULES = {
    "FULL": "none",  # it repeats everything, so tests start it
    "DELTA": "*/4 * * * *",
    "EXPORT": "7-59/20 * * * *",
    "HOLDS": "1-59/3 * * * *",
    "RECOVER": "*/2 * * * *",
    "PROMOTIONS": "2-59/10 * * * *",
    "PROMOTIONS_RECOVER": "1-59/4 * * * *",
    "HOUSEKEEPING": "11-59/20 * * * *",
    "ORDERS": "*/2 * * * *",
    "HISTORY": "3-59/10 * * * *",
}
"""A day's schedules within minutes, by the options an operator has."""

SHORT_TIMEOUTS = {
    "AIRFLOW__SHELFSYNC__RETRY_DELAY_S": "5",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "30",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "5",
    "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "20",
}
"""Airflow's own waits, shortened like the schedules."""

SHORTENED = {
    "SHELFSYNC_SYNC__PRIORITY_SPLIT_SKUS": "0",
    "SHELFSYNC_HOUSEKEEPING__EVENT_DAYS": "0.006",
    "SHELFSYNC_DRIFT__PROPAGATION_S": "60",
    "SHELFSYNC_ORDERS__HISTORY_LAG_S": "5",
    "SHELFSYNC_LOCAL__CUSTOMER_INTERVAL_S": "0",
    "SHELFSYNC_LOCAL__PICKING_DELAY_S": "3",
}
"""Small changes leave in several bodies, as large ones do; events are old after some nine minutes;
a change is too young for an export for one minute; only tests place orders."""


def clean_environment() -> dict[str, str]:
    """What a user's shell has: neither settings of the test session nor of Airflow, and nothing of a `make` around it."""
    foreign = ("AIRFLOW", "SHELFSYNC", "PYTEST", "PYTHONPATH", "COV_", "MAKE", "MFLAGS")
    given = re.findall(
        r"(\w+)=", os.environ.get("MAKEFLAGS", "")
    )  # make exports the variables of its command line, too
    return {name: value for name, value in os.environ.items() if not name.startswith(foreign) and name not in given}


@dataclass
class Installation:
    """One installation in a separate folder. `settings` are environment variables for `make up`."""

    home: Path
    settings: dict[str, str] = field(default_factory=dict, repr=False)
    printed: str = field(default="", repr=False)
    """What `make up` printed, passwords among it."""
    _transaction: psycopg.Connection[dict[str, Any]] | None = field(default=None, repr=False)
    project: Path = PROJECT

    def up(self) -> str:
        """`make up`; returns what it printed."""
        done = self.make("up", timeout_s=UP_TIMEOUT_S)
        assert done.returncode == 0, f"make up ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        self.printed = done.stdout
        self.forget_airflow()
        return done.stdout

    def forget_airflow(self) -> None:
        """Airflow may have another address and another password after this."""
        if client := self.__dict__.pop("airflow", None):
            client.close()

    def down(self) -> str:
        """`make down`; returns what it printed."""
        self.forget_airflow()
        done = self.make("down", timeout_s=UP_TIMEOUT_S)
        assert done.returncode == 0, f"make down ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def make(self, *words: str, timeout_s: float = COMMAND_TIMEOUT_S) -> subprocess.CompletedProcess[str]:
        """A Make target, in the environment that brought this installation up."""
        return _run(
            ["make", *words], clean_environment() | self.settings | {"SHELFSYNC_HOME": str(self.home)}, timeout_s
        )

    def shelfsync(self, *words: str, timeout_s: float = COMMAND_TIMEOUT_S) -> subprocess.CompletedProcess[str]:
        """The command line, in a separate process."""
        return _run([str(PROJECT / ".venv/bin/shelfsync"), *words], self.environment, timeout_s)

    @property
    def environment(self) -> dict[str, str]:
        """A user's environment with the one variable that `make up` prints for the command line."""
        return clean_environment() | {"SHELFSYNC_CONFIG": str(self.home / "sample.toml")}

    def address(self, name: str) -> str:
        """An address that `make up` printed, by its name."""
        found = re.search(rf"^up +{name} +(\S+://[^\s/]+)", self.printed, re.MULTILINE)
        assert found, f"make up printed no address for {name}:\n{self.printed}"
        return found[1]

    @property
    def airflow_url(self) -> str:
        return self.address("Airflow")

    @property
    def receiver_url(self) -> str:
        return self.address("webhook receiver")

    @property
    def sandbox_url(self) -> str:
        return self.address("sandbox")

    @property
    def user(self) -> str:
        return USER

    @property
    def password(self) -> str:
        """Of Airflow's one user, as `make up` printed it."""
        found = re.search(r"^up +Airflow .* password (\S+)$", self.printed, re.MULTILINE)
        assert found, "make up printed no password for Airflow"
        return found[1]

    @cached_property
    def configured(self) -> dict[str, Any]:
        """The settings file that `make up` wrote."""
        return tomllib.loads((self.home / "sample.toml").read_text("utf-8"))

    @property
    def database_url(self) -> str:
        return str(self.configured["database_url"])

    @property
    def erp_url(self) -> str:
        return str(self.configured["erp"]["url"]).replace("postgresql+psycopg://", "postgresql://", 1)

    @cached_property
    def airflow(self) -> httpx.Client:
        """A client of Airflow's REST API and of shelfsync's pages, as the user admin."""
        client = httpx.Client(base_url=self.airflow_url, timeout=60, trust_env=False)
        answer = client.post("/auth/token", json={"username": USER, "password": self.password})
        answer.raise_for_status()
        client.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
        return client

    def sandbox(self, method: str, path: str, body: Any = None) -> Any:
        """A call of the sandbox's control plane; numbers with a point are exact."""
        content = None if body is None else json.dumps(body, default=float)
        answer = httpx.request(
            method,
            f"{self.sandbox_url}/_sandbox{path}",
            content=content,
            headers={"Content-Type": "application/json"},
            timeout=60,
            trust_env=False,
        )
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text[:300]}"
        return json.loads(answer.text, parse_float=Decimal) if answer.content else None

    def rows(self, query: str, **values: Any) -> list[dict[str, Any]]:
        """What a SELECT on ledger or warehouse finds."""
        return _rows(self.database_url, query, values)

    def erp(self, statement: str, **values: Any) -> list[dict[str, Any]]:
        """A statement in the ERP's database: what a till or a buyer does."""
        if self._transaction is not None:
            return _found(self._transaction, statement, values)
        return _rows(self.erp_url, statement, values)

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """What the block does to the ERP is seen by every reader all together or not at all."""
        with psycopg.connect(self.erp_url, row_factory=dict_row) as connection:
            self._transaction = connection
            try:
                yield
            finally:
                self._transaction = None

    @contextlib.contextmanager
    def slow_jobs(self, seconds: float) -> Iterator[None]:
        """While the block runs, the platform takes so long for each job."""
        before = self.sandbox("GET", "/settings")["job_seconds"]
        self.sandbox("PUT", "/settings", {"job_seconds": seconds})
        try:
            yield
        finally:
            self.sandbox("PUT", "/settings", {"job_seconds": float(before)})

    @contextlib.contextmanager
    def faults(self, *rules: dict[str, Any]) -> Iterator[None]:
        """While the block runs, the platform has these faults."""
        self.sandbox("PUT", "/faults", {"rules": list(rules)})
        try:
            yield
        finally:
            self.sandbox("PUT", "/faults", {"rules": []})

    def killed(self, *words: str, after: Callable[[], Any]) -> None:
        """A command that is killed with -9 as soon as the condition holds."""
        command = [str(PROJECT / ".venv/bin/shelfsync"), *words]
        with subprocess.Popen(
            command, cwd=PROJECT, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                self.until(lambda: after() or process.poll() is not None, f"shelfsync {' '.join(words)} to come so far")
                assert process.poll() is None, (
                    f"shelfsync {' '.join(words)} ended with {process.returncode} before the kill"
                )
            finally:
                process.kill()

    @contextlib.contextmanager
    def switched_off(self, *dag_ids: str) -> Iterator[None]:
        """While the block runs, these DAGs are paused, and no run of them is under way."""
        try:
            for dag_id in dag_ids:
                self.until(partial(self._switch_off, dag_id), f"{dag_id} to be off")
            yield
        finally:
            for dag_id in dag_ids:
                self._switch(dag_id, is_paused=False)

    def _switch_off(self, dag_id: str) -> bool:
        """Airflow does not continue the runs of a paused DAG, so a run that began before has to end first."""
        if self.runs(dag_id, "running", "queued"):
            return False
        self._switch(dag_id, is_paused=True)
        if not self.runs(dag_id, "running", "queued"):
            return True
        self._switch(dag_id, is_paused=False)
        return False

    def _switch(self, dag_id: str, *, is_paused: bool) -> None:
        self.call("PATCH", f"/dags/{dag_id}", json={"is_paused": is_paused})

    # --- Airflow's REST API -------------------------------------------------------------------------------------------------------

    def get(self, path: str, **parameters: Any) -> dict[str, Any]:
        return self.call("GET", path, params=parameters)

    def call(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        """A call of Airflow's REST API (`/api/v2` in front is added)."""
        answer = self.airflow.request(method, f"/api/v2{path}", **more)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return dict(answer.json()) if answer.content else {}

    def dags(self) -> dict[str, dict[str, Any]]:
        """Every DAG that Airflow knows, by its id."""
        return {dag["dag_id"]: dag for dag in self.get("/dags", limit=100)["dags"]}

    def runs(self, dag_id: str, *states: str) -> list[dict[str, Any]]:
        """Runs of a DAG, the newest first."""
        more = {"state": list(states)} if states else {}
        return list(self.get(f"/dags/{dag_id}/dagRuns", limit=100, order_by="-run_after", **more)["dag_runs"])

    def run_state(self, dag_id: str, run_id: str) -> str:
        return str(self.get(f"/dags/{dag_id}/dagRuns/{run_id}")["state"])

    def tasks(self, dag_id: str, run_id: str) -> list[dict[str, Any]]:
        """Every task instance of a run."""
        found: list[dict[str, Any]] = []
        while True:
            page = self.get(f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances", limit=100, offset=len(found))
            found += page["task_instances"]
            if len(found) >= page["total_entries"] or not page["task_instances"]:
                return found

    def trigger(self, dag_id: str, **form: Any) -> str:
        """Starts a run by hand; returns its id."""
        body = {"logical_date": None, "conf": form}
        return str(self.call("POST", f"/dags/{dag_id}/dagRuns", json=body)["dag_run_id"])

    def run(self, dag_id: str, *, expect: str = "success", timeout_s: float = RUN_TIMEOUT_S, **form: Any) -> str:
        """Starts a run by hand and waits for its end, which has to be the expected one; returns its id."""
        run_id = self.trigger(dag_id, **form)
        self.ended(dag_id, run_id, expect=expect, timeout_s=timeout_s)
        return run_id

    def ended(self, dag_id: str, run_id: str, *, expect: str = "success", timeout_s: float = RUN_TIMEOUT_S) -> None:
        """Waits for the end of a run, which has to be the expected one."""
        self.until(lambda: self.run_state(dag_id, run_id) in ENDED, f"{dag_id} {run_id} to end", timeout_s)
        state = self.run_state(dag_id, run_id)
        assert state == expect, f"{dag_id} {run_id} is {state}:\n{self.why(dag_id, run_id)}"

    def why(self, dag_id: str, run_id: str) -> str:
        """What the failed tasks of a run wrote, as Airflow shows it."""
        lines = []
        for task in self.tasks(dag_id, run_id):
            if task["state"] in {"failed", "up_for_retry", "upstream_failed"}:
                lines.append(f"--- {task['task_id']} [{task['map_index']}] {task['state']}, try {task['try_number']}")
                lines += self.log(dag_id, run_id, task["task_id"], task["map_index"], task["try_number"])[-15:]
        return "\n".join(lines)

    def log(self, dag_id: str, run_id: str, task_id: str, map_index: int = -1, attempt: int = 1) -> list[str]:
        """The lines of one task's log, as Airflow shows it."""
        path = f"/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}/logs/{attempt}"
        answer = self.airflow.get(f"/api/v2{path}", params={"map_index": map_index, "full_content": True})
        if not answer.is_success:
            return [f"no log: {answer.status_code}"]
        return [_line(entry) for entry in answer.json().get("content") or []]

    def until(self, condition: Callable[[], Any], what: str, timeout_s: float = RUN_TIMEOUT_S) -> Any:
        """Polls until the condition holds; returns its value. While a service is unavailable, the condition is false.

        The pauses are longer than the looks, so that looking does not slow down what is waited for.
        """
        deadline_s = time.monotonic() + timeout_s
        last: object = None
        while (began_s := time.monotonic()) < deadline_s:
            with contextlib.suppress(httpx.HTTPError, psycopg.OperationalError):
                last = condition()
                if last:
                    return last
            time.sleep(max(0.5, 3 * (time.monotonic() - began_s)))
        raise AssertionError(f"{what}: not within {timeout_s:.0f} s (last: {str(last)[:300]})")


def _run(command: list[str], environment: dict[str, str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _rows(url: str, query: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        return _found(connection, query, values)


def _found(connection: psycopg.Connection[dict[str, Any]], query: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    found = connection.execute(query, values or None)
    return list(found.fetchall()) if found.description else []


def _line(entry: Any) -> str:
    """A line of Airflow's structured log as a person reads it."""
    if not isinstance(entry, dict):
        return str(entry)
    error = "; ".join(f"{part.get('exc_type')}: {part.get('exc_value')}" for part in entry.get("error_detail") or ())
    return f"{entry.get('level', '')} {entry.get('event', '')} {error}".strip()


@contextlib.contextmanager
def installed(home: Path, settings: dict[str, str]) -> Iterator[Installation]:
    """An installation that runs during the block. If it runs already, it keeps running, so that tests can be written against it."""
    installation = Installation(home, settings)
    if (home / "run/ready.json").is_file():
        installation.up()
        yield installation
        return
    try:
        installation.up()
        yield installation
    finally:
        installation.down()
