"""The tasks, each named by its step's word: open the house, take the step, tell Airflow how it went.

Every task may run again at any time: what has been done stands in the ledger, and XCom carries references and counts alone.
"""

from __future__ import annotations

import logging
from typing import Any

from airflow.sdk import get_current_context, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from shelfsync_airflow.house import ERP, PLATFORM, open_house

log = logging.getLogger(__name__)

SHOWN_MAX = 20
SHARD_LABEL = "{{ task.op_kwargs['shard']['label'] }}"


@task
def check(kind: str) -> int:
    """Asks database, ERP and platform whether they are there and let us in, before anything is read or sent; opens the run.

    A delta believes a platform that let us in lately: it comes every quarter of an hour, and requests are rationed.
    """
    context = get_current_context()
    params = context["params"]
    vendors = tuple(vendor.strip() for vendor in params["vendors"] or () if vendor.strip())
    skus = tuple(sku.strip() for sku in params.get("skus") or () if sku.strip())
    key = f"{context['dag'].dag_id}/{context['run_id']}"
    with open_house(PLATFORM, ERP, read_only=_dry_run()) as house:
        house.check(vendors, fresh=kind == "full")
        if skus and not params["dry_run"]:
            house.clear_the_way(vendors)
        return house.open_run(kind, key, vendors, skus=skus, dry_run=bool(params["dry_run"]))


@task
def extract(run: int) -> list[dict[str, Any]]:
    """Reads the ERP into the lake with a proof that nothing is missing, and cuts the vendors into shards."""
    with open_house(PLATFORM, ERP, read_only=_dry_run()) as house:
        return house.extract(run)


@task(map_index_template=SHARD_LABEL)
def normalise(shard: dict[str, Any]) -> dict[str, Any]:
    """Raw rows become a snapshot; what the platform would refuse is quarantined with its reason."""
    return _take("normalise", shard)


@task(map_index_template=SHARD_LABEL)
def diff(shard: dict[str, Any]) -> dict[str, Any]:
    """What must change on the platform: the snapshot against what the platform acknowledged."""
    return _take("diff", shard)


@task(map_index_template=SHARD_LABEL)
def guard(shard: dict[str, Any]) -> dict[str, Any]:
    """Holds what looks wrong; the rest flows."""
    return _take("guard", shard)


@task(map_index_template=SHARD_LABEL)
def batch(shard: dict[str, Any]) -> dict[str, Any]:
    """Cuts what was released into request bodies, committed before anything is sent."""
    return _take("batch", shard)


@task(map_index_template=SHARD_LABEL)
def deliver(shard: dict[str, Any], params: dict[str, Any] | None = None) -> dict[str, Any]:
    """Sends the batches, one open job a vendor. A dry run ends here: the report holds the plan."""
    if params and params["dry_run"]:
        raise AirflowSkipException("Dry run: nothing is sent; the report holds the plan.")
    return _take("deliver", shard)


@task(map_index_template=SHARD_LABEL)
def confirm(shard: dict[str, Any]) -> dict[str, Any]:
    """Fetches the jobs' logs and finds out, SKU by SKU, what became of what was sent."""
    return _take("confirm", shard)


@task(map_index_template=SHARD_LABEL)
def acknowledge(shard: dict[str, Any]) -> dict[str, Any]:
    """Moves the baseline by what the platform accepted, and by nothing else."""
    return _take("acknowledge", shard)


@task(trigger_rule="all_done")
def report(run: int | None) -> dict[str, Any]:
    """Closes the run and says how it went; fails when a vendor or a task failed, and names each with its reason."""
    if run is None:
        raise AirflowFailException("The run did not begin, nothing was read or sent: see the log of the task check.")
    failed = failed_tasks()
    with open_house(PLATFORM) as house:
        summary = house.report(run)
    for line in summary.pop("lines"):
        log.info("%s", line)
    summary.pop("plan", None)  # the lines have said it
    vendors = summary.pop("vendors")  # they stand in the ledger, and may be hundreds
    troubles = [
        f"vendor {row['vendor']} failed at {row['failed_step']}: {row['error']}"
        for row in vendors
        if row["state"] == "failed"
    ]
    if summary["error"] and not troubles and summary["state"] != "partly":
        troubles.append(summary["error"])
    troubles += summary["alarms"]
    stop_for([f"task {name} failed: see its log, then clear it" for name in failed] + troubles)
    return summary


@task
def settle() -> dict[str, Any]:
    """Finishes what events lost: jobs whose webhook never came, logs never fetched, batches that never left."""
    with open_house(PLATFORM) as house:
        told = house.settle()
    stop_for([f"vendor {vendor}: {why}" for vendor, why in told["failed"].items()])
    return told


@task
def keep_house() -> dict[str, Any]:
    """Removes what is older than its retention and needed by nothing."""
    with open_house() as house:
        told = house.keep_house()
    for line in told.pop("lines"):
        log.info("%s", line)
    return told


def _take(word: str, shard: dict[str, Any]) -> dict[str, Any]:
    """One step for one shard; returns counts. A vendor that fails is told in the log and in the report, and stops nobody."""
    with open_house(PLATFORM, read_only=_dry_run()) as house:
        told = house.step(word, shard["run"], shard["vendors"])
    for vendor, why in told["skipped"].items():
        log.info("%s: vendor %s passed over: %s", word, vendor, why)
    return {"step": word, "done": told["done"], "skipped": len(told["skipped"]), "failed": len(told["failed"])}


def _dry_run() -> bool:
    """Whether this run was started to plan: then its client has no way to change the platform."""
    return bool(get_current_context()["params"].get("dry_run"))


def stop_for(troubles: list[str]) -> None:
    """Fails the task when there is trouble: a line for each, then all of them in the one that Airflow shows."""
    for trouble in troubles:
        log.error("%s", trouble)
    if troubles:
        more = f"; and {len(troubles) - SHOWN_MAX} more" if len(troubles) > SHOWN_MAX else ""
        raise AirflowFailException("; ".join(troubles[:SHOWN_MAX]) + more)


def failed_tasks() -> list[str]:
    """The tasks of this run that failed, by name and number of the shard."""
    context = get_current_context()
    dag_id, run_id = context["dag"].dag_id, context["run_id"]
    states = context["ti"].get_task_states(dag_id=dag_id, run_ids=[run_id]).get(run_id, {})
    return sorted(name for name, state in states.items() if state == "failed")
