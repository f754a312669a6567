"""The tasks of the promotions' path, each named by its step's word. Every one may run again: the ledger knows what has been done."""

from __future__ import annotations

import logging
from typing import Any

from airflow.sdk import Asset, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from shelfsync_airflow.house import ERP, PLATFORM, open_house
from shelfsync_airflow.wait import PromotionsSettledTrigger, WaitOperator

log = logging.getLogger(__name__)

CHANGED = Asset("shelfsync_promotions_changed", uri="x-shelfsync://promotions/changed")
"""An event of it (POST /api/v2/assets/events, or a DAG of yours that has it as an outlet) starts a run at once."""

RUN_OF_CHECK = """{"run": {{ ti.xcom_pull(task_ids='check', map_indexes=None) | tojson }}}"""
_SHOWN_MAX = 20
_NOT_CONFIGURED = (
    "No promotions are configured (SHELFSYNC_PROMOTIONS__SQL, __SQL_FILE or __FILES), so there is nothing to do."
)


@task
def check() -> int:
    """Asks database, ERP and platform whether they are there, and opens the run."""
    context = get_current_context()
    with open_house(PLATFORM, ERP) as house:
        if not house.promotions.configured:
            raise AirflowSkipException(_NOT_CONFIGURED)
        house.check((), fresh=False)
        return house.promotions.open_run(
            f"{context['dag'].dag_id}/{context['run_id']}", dry_run=bool(context["params"]["dry_run"])
        )


@task
def extract(run: int) -> dict[str, Any]:
    """Reads the ERP's promotions into the lake with a proof that nothing is missing."""
    with open_house(PLATFORM, ERP) as house:
        return house.promotions.extract(run)


@task
def plan(run: int) -> dict[str, int]:
    """What the ERP wants against what the platform was told: requests, committed before anything is sent. The report holds the plan."""
    with open_house(PLATFORM) as house:
        told = house.promotions.plan(run)
    counts: dict[str, int] = told["counts"]
    return counts


@task
def deliver(params: dict[str, Any] | None = None) -> dict[str, Any]:
    """Sends what is planned. A dry run ends here."""
    if params and params["dry_run"]:
        raise AirflowSkipException("Dry run: nothing is sent; the report holds the plan.")
    with open_house(PLATFORM) as house:
        return house.promotions.deliver()


def wait(task_id: str) -> WaitOperator:
    """Asks, without a worker, until every job of the run has ended or its deadline has passed."""
    return WaitOperator(task_id=task_id, trigger=PromotionsSettledTrigger, shard=RUN_OF_CHECK, doc_md=wait.__doc__)


@task
def confirm() -> dict[str, Any]:
    """Finds out, SKU by SKU and vendor by vendor, what became of what was sent."""
    with open_house(PLATFORM) as house:
        return house.promotions.confirm()


@task(trigger_rule="all_done")
def report(run: int | None) -> dict[str, Any]:
    """Closes the run and says how it went; fails when a request or a task failed, and names each with its reason."""
    with open_house(PLATFORM) as house:
        if run is None and not house.promotions.configured:
            raise AirflowSkipException(_NOT_CONFIGURED)
        if run is None:
            raise AirflowFailException(
                "The run did not begin, nothing was read or sent: see the log of the task check."
            )
        summary = house.promotions.report(run)
    for line in summary.pop("lines"):
        log.info("%s", line)
    summary.pop("actions")
    if summary["state"] in {"failed", "partly_failed"}:
        log.error("%s", summary["error"])
        raise AirflowFailException(str(summary["error"]))
    return summary


@task
def settle() -> dict[str, Any]:
    """Finishes what tasks and processes lost: requests whose answer never came, jobs nobody asked about."""
    with open_house(PLATFORM) as house:
        told = house.promotions.settle()
    if told["failed"]:
        lines = [f"campaign {campaign}: {why}" for campaign, why in told["failed"].items()]
        raise AirflowFailException("; ".join(lines[:_SHOWN_MAX]))
    return told
