"""Airflow's REST API, and one run of a DAG from its start by hand to its end, shown task by task."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from shelfsync.errors import ShelfsyncError
from shelfsync.local.airflow_home import USER
from shelfsync.local.supervisor import ServiceFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from partner_api.http_library import httpx
    from shelfsync.local.stack import RunningStack

TIMEOUT_S = 30.0
PAGE = 100
"""Rows of an answer: Airflow's own `maximum_page_limit`, which an installation may lower."""
PARSED_TIMEOUT_S = 600.0
RUN_TIMEOUT_S = 1800.0
_ENDED = frozenset({"success", "failed", "skipped", "upstream_failed", "removed"})


@dataclass(frozen=True)
class TaskState:
    """One task instance: its name with the shard it is for, its state, which try it is at."""

    task: str
    shard: str | None
    state: str | None
    attempt: int
    map_index: int

    @property
    def label(self) -> str:
        return f"{self.task} [{self.shard}]" if self.shard else self.task


@dataclass(frozen=True)
class Dag:
    """A DAG that Airflow has parsed, and its file below the DAG folder."""

    dag_id: str
    file: str
    is_paused: bool


class AirflowApi:
    """A session as the user admin. Use it as a context manager."""

    def __init__(self, stack: RunningStack) -> None:
        self._stack = stack
        self._client: httpx.Client | None = None

    def __enter__(self) -> Self:
        from partner_api.http_library import httpx

        self._client = httpx.Client(base_url=self._stack.addresses.api_url, timeout=TIMEOUT_S, trust_env=False)
        answer = self._call("POST", "/auth/token", json={"username": USER, "password": self._stack.admin_password})
        self._client.headers["Authorization"] = f"Bearer {answer['access_token']}"
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.close()

    def knows(self, dag_id: str) -> bool:
        """Whether the DAG has been parsed; a ShelfsyncError when it cannot be."""
        if self._request("GET", f"/api/v2/dags/{dag_id}").status_code == 200:
            return True
        self.fail_on_import_errors([dag_id])
        return False

    def dags(self, tag: str) -> list[Dag]:
        """Every DAG with the tag that has been parsed, by its name."""
        rows = self._rows("/api/v2/dags", "dags", tags=[tag], order_by="dag_id")
        return [Dag(row["dag_id"], str(row["relative_fileloc"]), bool(row["is_paused"])) for row in rows]

    def fail_on_import_errors(self, words: Iterable[str]) -> None:
        """Raises ShelfsyncError if Airflow cannot import a file whose name contains one of the words."""
        words = list(words)
        for error in self._rows("/api/v2/importErrors", "import_errors"):
            if any(word in error["filename"] for word in words):
                last = error["stack_trace"].strip().splitlines()[-1]
                raise ShelfsyncError(f"Airflow cannot import {error['filename']}: {last}")

    def unpause(self, dag_id: str) -> None:
        self._call("PATCH", f"/api/v2/dags/{dag_id}", json={"is_paused": False})

    def pause(self, dag_id: str) -> None:
        self._call("PATCH", f"/api/v2/dags/{dag_id}", json={"is_paused": True})

    def trigger(self, dag_id: str) -> str:
        """Starts a run by hand; returns its id."""
        answer = self._call("POST", f"/api/v2/dags/{dag_id}/dagRuns", json={"logical_date": None})
        return str(answer["dag_run_id"])

    def run_state(self, dag_id: str, run_id: str) -> str:
        """queued, running, success or failed."""
        return str(self._call("GET", f"/api/v2/dags/{dag_id}/dagRuns/{run_id}")["state"])

    def fail_unfinished(self, dag_id: str) -> int:
        """Ends every queued or running run as failed, and with it the tasks that a killed scheduler left; how many there were."""
        path = f"/api/v2/dags/{dag_id}/dagRuns"
        unfinished = self._rows(path, "dag_runs", state=["queued", "running"])
        for run in unfinished:
            self._call("PATCH", f"{path}/{run['dag_run_id']}", json={"state": "failed"})
        return len(unfinished)

    def failed_run(self, dag_id: str) -> str | None:
        """The id of the newest run that failed, None where none did."""
        path = f"/api/v2/dags/{dag_id}/dagRuns"
        found = self._call("GET", path, params={"state": ["failed"], "limit": 1, "order_by": "-run_after"})["dag_runs"]
        return str(found[0]["dag_run_id"]) if found else None

    def runs(self, dag_id: str) -> int:
        """How many runs the DAG has had."""
        return int(self._call("GET", f"/api/v2/dags/{dag_id}/dagRuns", params={"limit": 1})["total_entries"])

    def tasks(self, dag_id: str, run_id: str) -> list[TaskState]:
        path = f"/api/v2/dags/{dag_id}/dagRuns/{run_id}/taskInstances"
        return [
            TaskState(row["task_id"], row.get("rendered_map_index"), row["state"], row["try_number"], row["map_index"])
            for row in self._rows(path, "task_instances")
        ]

    def _rows(self, path: str, name: str, **params: Any) -> list[dict[str, Any]]:
        """All rows of a list, answer after answer."""
        found: list[dict[str, Any]] = []
        while True:
            given = {"limit": PAGE, "offset": len(found), **params}
            answer = self._call("GET", path, params=given)
            found += answer[name]
            if not answer[name] or len(found) >= answer["total_entries"]:
                return found

    def _request(self, method: str, path: str, **more: Any) -> httpx.Response:
        from partner_api.http_library import httpx

        assert self._client is not None, "use it as a context manager"
        try:
            return self._client.request(method, path, **more)
        except httpx.HTTPError as error:
            raise ShelfsyncError(
                f"Airflow's API does not answer {method} {path}: {error!r}. Its log: {self._stack.processes.log('api-server')}"
            ) from None

    def _call(self, method: str, path: str, **more: Any) -> dict[str, Any]:
        answer = self._request(method, path, **more)
        if answer.is_error:
            raise ShelfsyncError(
                f"Airflow's API answers {method} {path} with {answer.status_code}: {answer.text[:300]}"
            )
        result: dict[str, Any] = answer.json()
        return result


def wait_known(stack: RunningStack, airflow: AirflowApi, dag_id: str) -> None:
    """Returns once Airflow has parsed the DAG."""
    knows = functools.partial(airflow.knows, dag_id)
    stack.wait_for(knows, what=f"Airflow to find {dag_id}", timeout_s=PARSED_TIMEOUT_S, log_of="dag-processor")


def run_dag(stack: RunningStack, airflow: AirflowApi, dag_id: str, echo: Callable[[str], None]) -> str:
    """Starts the DAG and waits for its end; returns the run's id, raises ServiceFailedError with the end of the failing task's log."""
    run_id = start(stack, airflow, dag_id, echo)
    wait_ended(stack, airflow, {dag_id: run_id}, echo)
    return run_id


def start(stack: RunningStack, airflow: AirflowApi, dag_id: str, echo: Callable[[str], None]) -> str:
    """Starts the DAG by hand; returns the run's id."""
    wait_known(stack, airflow, dag_id)
    airflow.unpause(dag_id)
    run_id = airflow.trigger(dag_id)
    echo(f"{dag_id}: started")
    return run_id


def wait_ended(stack: RunningStack, airflow: AirflowApi, runs: Mapping[str, str], echo: Callable[[str], None]) -> None:
    """Waits for the end of all of these runs (DAG -> run's id), in parallel, and reports their tasks as they end."""
    reported: set[tuple[str, str]] = set()
    states: dict[str, str] = {}

    def ended() -> bool:
        for dag_id, run_id in runs.items():
            states[dag_id] = airflow.run_state(dag_id, run_id)
            for task in airflow.tasks(dag_id, run_id):
                if task.state in _ENDED and (dag_id, task.label) not in reported:
                    reported.add((dag_id, task.label))
                    echo(f"{dag_id}: {task.label} {task.state}")
            if states[dag_id] == "failed":
                raise failure(stack, airflow, dag_id, run_id)
        return set(states.values()) == {"success"}

    names = " and ".join(runs)
    stack.wait_for(ended, what=f"{names} to end", timeout_s=RUN_TIMEOUT_S, log_of="scheduler", every_s=1.0)


def failure(stack: RunningStack, airflow: AirflowApi, dag_id: str, run_id: str) -> ServiceFailedError:
    """The message about a run that failed: the first task that did, and the end of its log."""
    failed = [task for task in airflow.tasks(dag_id, run_id) if task.state == "failed"]
    if not failed:
        return ServiceFailedError(
            f"{dag_id} failed without a failed task. The log: {stack.processes.log('scheduler')}",
            "scheduler",
            stack.processes.last_lines("scheduler"),
        )
    log = _log_of(stack, dag_id, run_id, failed[0])
    lines = [] if log is None else log.read_text("utf-8", errors="replace").splitlines()
    result = [_readable(line) for line in lines]
    causes = [line for line in result if line.startswith(("error", "critical"))]
    why = " ".join(causes[-1].split()[1:])[:500] if causes else "it reports nothing"
    return ServiceFailedError(
        f"{dag_id}: task {failed[0].label} failed: {why} Its log: {log}", "scheduler", result[-25:]
    )


def _log_of(stack: RunningStack, dag_id: str, run_id: str, task: TaskState) -> Path | None:
    """The newest log file of a task."""
    folder = stack.place.airflow / "logs" / f"dag_id={dag_id}" / f"run_id={run_id}" / f"task_id={task.task}"
    if task.map_index >= 0:
        folder /= f"map_index={task.map_index}"
    return max(folder.glob("attempt=*.log"), key=lambda file: file.stat().st_mtime, default=None)


def _readable(line: str) -> str:
    """A line of Airflow's JSON log as text for people."""
    try:
        result = json.loads(line)
    except ValueError:
        return line
    if not isinstance(result, dict):
        return line
    error = "; ".join(f"{part.get('exc_type')}: {part.get('exc_value')}" for part in result.get("error_detail") or ())
    return f"{result.get('level', ''):<8} {result.get('event', '')} {error}".rstrip()
