"""A wait in a DAG whose tasks are tried again, as those of the project are."""

from __future__ import annotations

import datetime as dt
from typing import Any

from airflow.sdk import chain, dag, task, task_group

from shelfsync_airflow.wait import WaitOperator


@task
def extract() -> list[dict[str, Any]]:
    return [{"run": 999_999, "vendors": ["nobody"], "label": "0"}]


@task
def confirm(shard: dict[str, Any]) -> None:
    pass


@task_group
def shard(shard: dict[str, Any]) -> None:
    chain(WaitOperator(task_id="wait"), confirm(shard))


@dag(schedule=None, default_args={"retries": 3, "retry_delay": dt.timedelta(seconds=1)})
def canary_wrong_wait() -> None:
    shard.expand(shard=extract())


canary_wrong_wait()
