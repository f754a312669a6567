"""One wait for the first run of the ledger, whose job a test keeps open."""

from __future__ import annotations

from typing import Any

from airflow.sdk import dag, task, task_group

from shelfsync_airflow.wait import WaitOperator


@task
def extract() -> list[dict[str, Any]]:
    return [{"run": 1, "shard": 0, "vendors": ["store-001"], "label": "store-001"}]


@task_group
def shard(shard: dict[str, Any]) -> None:
    WaitOperator(task_id="wait")


@dag(schedule=None)
def canary_long_wait() -> None:
    shard.expand(shard=extract())


canary_long_wait()
