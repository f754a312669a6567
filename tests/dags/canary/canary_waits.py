"""Waits whose end is there before they begin: the moment at which a deferred task gets lost, many times at once."""

from __future__ import annotations

from typing import Any

from airflow.sdk import chain, dag, task, task_group

from shelfsync_airflow.wait import WaitOperator

WAITS = 16
NO_RUN = 999_999


@task
def extract() -> list[dict[str, Any]]:
    return [{"run": NO_RUN, "shard": n, "vendors": ["nobody"], "label": str(n)} for n in range(WAITS)]


@task
def confirm(shard: dict[str, Any]) -> int:
    return shard["shard"]


@task_group
def shard(shard: dict[str, Any]) -> None:
    chain(WaitOperator(task_id="wait"), confirm(shard))


@dag(schedule=None)
def canary_waits() -> None:
    shard.expand(shard=extract())


canary_waits()
