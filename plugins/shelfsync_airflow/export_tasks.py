"""The tasks of an export run, each named by its step's word; XCom carries references and counts alone."""

from __future__ import annotations

import logging
from typing import Any

from airflow.sdk import Param, chain, get_current_context, task, task_group
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from shelfsync.errors import NothingSyncedError
from shelfsync_airflow.house import PLATFORM, open_house
from shelfsync_airflow.tasks import SHARD_LABEL, failed_tasks, stop_for
from shelfsync_airflow.wait import SHARD_OF_THIS_EXPORT, ExportedTrigger, WaitOperator

log = logging.getLogger(__name__)


def export_form() -> dict[str, Param]:
    """What a person may say when starting a run by hand."""
    return {
        "vendors": Param(
            [],
            type=["array", "null"],
            items={"type": "string"},
            title="Vendors",
            description="One vendor id a line; empty means every vendor that was ever in an extract.",
        )
    }


@task
def plan() -> list[dict[str, Any]]:
    """Notes which vendors are to be exported, and cuts them into shards."""
    context = get_current_context()
    vendors = tuple(vendor.strip() for vendor in context["params"]["vendors"] or () if vendor.strip())
    with open_house(PLATFORM) as house:
        try:
            return house.plan_exports(f"{context['dag'].dag_id}/{context['run_id']}", vendors)
        except NothingSyncedError as error:
            raise AirflowSkipException(str(error)) from None


@task(map_index_template=SHARD_LABEL)
def export(shard: dict[str, Any]) -> dict[str, Any]:
    """Asks the platform for its own picture of each vendor."""
    return _take("export", shard)


@task(map_index_template=SHARD_LABEL)
def observe(shard: dict[str, Any]) -> dict[str, Any]:
    """Fetches each file once, keeps it, and loads what it shows into the warehouse."""
    return _take("observe", shard)


@task(map_index_template=SHARD_LABEL)
def reconcile(shard: dict[str, Any]) -> dict[str, Any]:
    """Compares what is shown with what is wanted and what was acknowledged; every difference gets a cause and is healed or told."""
    return _take("reconcile", shard)


@task(trigger_rule="all_done")
def report(shards: list[dict[str, Any]] | None) -> dict[str, Any]:
    """Says what differed and why; fails when an export or a task failed, and names each with its reason."""
    failed = failed_tasks()
    if not shards and not failed:
        raise AirflowSkipException("Nothing has been synced yet, so nothing was asked for.")
    if not shards:
        raise AirflowFailException("The run did not begin, nothing was asked for: see the log of the task plan.")
    with open_house(PLATFORM) as house:
        summary = house.report_exports(shards[0]["run"])
    for line in summary.pop("lines"):
        log.info("%s", line)
    troubles = [
        f"vendor {row['vendor']} failed at {row['failed_step'] or row['state']}: {row['error']}"
        for row in summary.pop("vendors")
        if row["error"]
    ]
    stop_for([f"task {name} failed: see its log, then clear it" for name in failed] + troubles)
    return summary


@task_group
def shard(shard: dict[str, Any]) -> None:
    """The exports of some vendors, side by side with the other shards; one that fails stops none of them."""
    chain(
        export(shard=shard),
        WaitOperator(
            trigger=ExportedTrigger,
            shard=SHARD_OF_THIS_EXPORT,
            task_id="wait",
            doc_md="Waits in the triggerer until every export has ended or its deadline has passed.",
        ),
        observe(shard=shard),
        reconcile(shard=shard),
    )


def _take(word: str, shard: dict[str, Any]) -> dict[str, Any]:
    """One step for one shard; returns counts."""
    with open_house(PLATFORM) as house:
        told = house.export_step(word, shard["run"], shard["vendors"])
    for vendor, why in told["skipped"].items():
        log.info("%s: vendor %s passed over: %s", word, vendor, why)
    return {"step": word, "done": told["done"], "skipped": len(told["skipped"]), "failed": len(told["failed"])}
