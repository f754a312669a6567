"""What the real scheduler has run by the end of all other tests of the installation."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from installation.installed import Installation

pytestmark = pytest.mark.slow

WAITS = ("wait", "wait_ends")


def test_every_other_file_of_the_installation_was_before_this_one(request: pytest.FixtureRequest) -> None:
    here = [item.path.name for item in request.session.items if item.path.parent == request.path.parent]
    assert {*here[here.index(request.path.name) :]} == {request.path.name}


def test_every_task_of_every_dag_was_run_by_a_worker_or_by_the_triggerer(installation: Installation) -> None:
    missing, by = [], defaultdict(set)
    for dag_id in installation.dags():
        wanted = {task["task_id"] for task in installation.get(f"/dags/{dag_id}/tasks")["tasks"]}
        for run in installation.runs(dag_id):
            for task in installation.tasks(dag_id, run["dag_run_id"]):
                if task["state"] == "success":
                    wanted.discard(task["task_id"])
                    by[task["task_id"].rpartition(".")[2]].add("worker" if task["pid"] else "triggerer")
        missing += [f"{dag_id}.{task}" for task in sorted(wanted)]
    assert missing == []
    assert {word: by[word] for word in WAITS} == {word: {"triggerer"} for word in WAITS}


def test_what_a_trigger_was_given_has_been_rendered(installation: Installation) -> None:
    """A trigger that got a raw template cannot know what it waited for."""
    saw = set()
    for dag_id in installation.dags():
        for run in installation.runs(dag_id, "success"):
            for task in installation.tasks(dag_id, run["dag_run_id"]):
                if task["task_id"].rpartition(".")[2] in WAITS and task["state"] == "success":
                    path = f"/dags/{dag_id}/dagRuns/{run['dag_run_id']}/taskInstances/{task['task_id']}/xcomEntries/return_value"
                    facts = installation.get(path, map_index=task["map_index"], deserialize=True)["value"]
                    assert {"ended", "left"} <= facts.keys(), f"{dag_id}.{task['task_id']}: {facts}"
                    saw.add(dag_id)
    assert saw == {dag_id for dag_id in installation.dags() if _waits(installation, dag_id)}


def _waits(installation: Installation, dag_id: str) -> bool:
    tasks = installation.get(f"/dags/{dag_id}/tasks")["tasks"]
    return any(task["task_id"].rpartition(".")[2] in WAITS for task in tasks)


def test_every_run_has_ended_and_none_failed_that_was_not_made_to(installation: Installation) -> None:
    """Scheduled runs fail only by what tests did to the ERP or the platform, and these report it."""
    without_reason = []
    for dag_id in installation.dags():
        for run in installation.runs(dag_id, "failed"):
            tasks = installation.tasks(dag_id, run["dag_run_id"])
            by_hand = [task for task in tasks if task["state"] not in {"success", "failed", "upstream_failed"}]
            if not by_hand and not installation.why(dag_id, run["dag_run_id"]):
                without_reason.append(f"{dag_id} {run['dag_run_id']}")
    assert without_reason == []
