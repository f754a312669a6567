"""One run of a DAG from its start by hand to its end, shown task by task."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING

from shelfsync.local.supervisor import ServiceFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from shelfsync.local.airflow_api import AirflowApi, TaskState
    from shelfsync.local.stack import RunningStack

PARSED_TIMEOUT_S = 180.0
RUN_TIMEOUT_S = 600.0
_ENDED = frozenset({"success", "failed", "skipped", "upstream_failed", "removed"})


def wait_known(stack: RunningStack, airflow: AirflowApi, dag_id: str) -> None:
    """Returns once Airflow has parsed the DAG."""
    knows = functools.partial(airflow.knows, dag_id)
    stack.wait_for(knows, what=f"Airflow to find {dag_id}", timeout_s=PARSED_TIMEOUT_S, guilty="dag-processor")


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
    stack.wait_for(ended, what=f"{names} to end", timeout_s=RUN_TIMEOUT_S, guilty="scheduler", every_s=1.0)


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
