"""The tasks of an export run, each named after its step; XCom carries references and counts alone."""

from __future__ import annotations

import logging
from typing import Any

from airflow.sdk import Param, chain, get_current_context, task, task_group
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from shelfsync.errors import NothingSyncedError
from shelfsync_airflow.app import PLATFORM, open_app
from shelfsync_airflow.assets import emit
from shelfsync_airflow.tasks import SHARD_LABEL, failed_tasks, flag_field, stop_for, vendors_field
from shelfsync_airflow.wait import SHARD_OF_THIS_EXPORT, WaitOperator

log = logging.getLogger(__name__)


def export_form() -> dict[str, Param]:
    """The form for starting a run by hand."""
    return {
        "vendors": vendors_field("that was ever in an extract"),
        "second_look": flag_field(
            "Second look",
            "Set by shelfsync itself: this run looks again at what was too young, and starts no third one.",
        ),
    }


@task
def plan() -> list[dict[str, Any]]:
    """Records the vendors to export, and divides them into shards."""
    from shelfsync.catalog.steps.export import plan_exports

    context = get_current_context()
    vendors = tuple(vendor.strip() for vendor in context["params"]["vendors"] or () if vendor.strip())
    with open_app(PLATFORM) as app:
        try:
            return plan_exports(app, f"{context['dag'].dag_id}/{context['run_id']}", vendors)
        except NothingSyncedError as error:
            raise AirflowSkipException(str(error)) from None


@task(map_index_template=SHARD_LABEL)
def export(shard: dict[str, Any]) -> dict[str, Any]:
    """Requests an export of each vendor from the platform."""
    return _take("export", shard)


@task(map_index_template=SHARD_LABEL)
def observe(shard: dict[str, Any]) -> dict[str, Any]:
    """Fetches each file once, keeps it, and loads what it shows into the warehouse."""
    return _take("observe", shard)


@task(map_index_template=SHARD_LABEL)
def reconcile(shard: dict[str, Any]) -> dict[str, Any]:
    """Compares the export with what is wanted and what was acknowledged; every difference gets a cause and is resent or reported."""
    return _take("reconcile", shard)


@task(trigger_rule="all_done")
def report(shards: list[dict[str, Any]] | None) -> dict[str, Any]:
    """Reports what differed and why; fails when an export or a task failed, and names each with its reason."""
    from shelfsync.catalog.steps.export import report_exports

    failed = failed_tasks()
    if not shards and not failed:
        raise AirflowSkipException("Nothing has been synced yet, so nothing was asked for.")
    if not shards:
        raise AirflowFailException("The run did not begin, nothing was asked for: see the log of the task plan.")
    with open_app(PLATFORM) as app:
        summary = report_exports(app, shards[0]["run"])
    for line in summary.pop("lines"):
        log.info("%s", line)
    troubles = [
        f"vendor {row['vendor']} failed at {row['failed_step'] or row['state']}: {row['error']}"
        for row in summary.pop("vendors")
        if row["error"]
    ]
    stop_for([f"task {name} failed: see its log, then clear it" for name in failed] + troubles)
    emit(shards[0]["run"], "succeeded")
    return summary


@task(trigger_rule="all_done")
def look_again(shards: list[dict[str, Any]] | None) -> None:
    """Plans a second run of the vendors with values that were accepted too late to show; skipped if there are none.

    A change that the platform accepted and did not apply is found today, not tomorrow. A repeat finds the run that was planned.
    """
    from airflow.sdk.exceptions import DagRunTriggerException

    from shelfsync.catalog.steps.second_look import later_look

    context = get_current_context()
    if not shards:
        raise AirflowSkipException("Nothing was exported.")
    with open_app(PLATFORM) as app:
        if context["params"]["second_look"] or not app.settings.drift.second_look:
            raise AirflowSkipException("Nothing is looked at a third time, or SHELFSYNC_DRIFT__SECOND_LOOK is off.")
        vendors, at = later_look(app, shards[0]["run"])
    if not vendors:
        raise AirflowSkipException("Every accepted value was old enough to show.")
    log.info("values of %s are too young: they are exported again at %s", ", ".join(vendors), at)
    raise DagRunTriggerException(
        trigger_dag_id=context["dag"].dag_id,
        dag_run_id=f"second_look__{context['run_id']}",
        conf={"vendors": vendors, "second_look": True},
        run_after=at,
        reset_dag_run=False,
        skip_when_already_exists=True,
        wait_for_completion=False,
        allowed_states=[],
        failed_states=[],
        poke_interval=60,
        deferrable=False,
    )


@task_group
def shard(shard: dict[str, Any]) -> None:
    """The exports of some vendors, in parallel with the other shards; a failed export stops none of them."""
    chain(
        export(shard=shard),
        WaitOperator(
            kind="export",
            shard=SHARD_OF_THIS_EXPORT,
            task_id="wait",
            doc_md="Waits in the triggerer until every export has ended or its deadline has passed.",
        ),
        observe(shard=shard),
        reconcile(shard=shard),
    )


def _take(word: str, shard: dict[str, Any]) -> dict[str, Any]:
    """One step for one shard; returns counts."""
    from shelfsync.catalog.steps.sync import run_export_step

    with open_app(PLATFORM) as app:
        result = run_export_step(app, word, shard["run"], shard["vendors"])
    for vendor, why in result["skipped"].items():
        log.info("%s: vendor %s passed over: %s", word, vendor, why)
    return {"step": word, "done": result["done"], "skipped": len(result["skipped"]), "failed": len(result["failed"])}
