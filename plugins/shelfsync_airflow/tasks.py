"""The tasks of a sync, its forms, and the path of a shard: each task takes one or more steps and reports their result to Airflow.

Every task may run again at any time: the ledger records finished work, and XCom carries only references and counts.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

from airflow.sdk import Param, chain, get_current_context, task, task_group
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from shelfsync_airflow.app import ALERTS, ERP, PLATFORM, PLATFORM_IF_SET, open_app
from shelfsync_airflow.assets import emit
from shelfsync_airflow.wait import WaitOperator

if TYPE_CHECKING:
    from collections.abc import Sequence

log = logging.getLogger(__name__)

SHOWN_MAX = 20
BETWEEN_LOOKS_S = 25.0
"""alerts_watch looks twice in its minute: a process that waits costs less than another run."""
SHARD_LABEL = "{{ task.op_kwargs['shard']['label'] }}"


@task
def check(kind: str) -> int:
    """Checks that database, ERP and platform are reachable and accept the credentials, before anything is read or sent; opens the run.

    A run whose check fails is recorded as failed. A delta skips the check if the platform accepted the credentials recently: it runs every quarter of an hour, and requests are limited.
    If the ERP reports its changes and there are none, the whole run is skipped here.
    """
    from shelfsync.catalog.steps.run import beginning, open_run
    from shelfsync.catalog.steps.urgent import clear_the_way
    from shelfsync.catalog.steps.watch import something_to_do
    from shelfsync.check import check as check_all

    context = get_current_context()
    params = context["params"]
    vendors = tuple(vendor.strip() for vendor in params["vendors"] or () if vendor.strip())
    skus = tuple(sku.strip() for sku in params.get("skus") or () if sku.strip())
    key = f"{context['dag'].dag_id}/{context['run_id']}"
    dry_run = bool(params["dry_run"])
    with open_app(PLATFORM, ERP, read_only=_dry_run()) as app:
        with beginning(app, kind=kind, key=key, vendors=vendors, skus=skus, dry_run=dry_run):
            check_all(app, vendors, fresh=kind == "full")
            needed = kind != "delta" or bool(vendors or skus or dry_run) or something_to_do(app)
            if skus and not dry_run:
                asyncio.run(clear_the_way(app, vendors))
        if not needed:
            raise AirflowSkipException("Nothing changed in the ERP, and no vendor waits for anything.")
        return open_run(app, kind=kind, key=key, vendors=vendors, skus=skus, dry_run=dry_run)


@task(task_id="recover")
def recover_first(run: int) -> dict[str, Any]:
    """Finishes what earlier runs left open with the vendors of this run; a vendor whose job is still open waits for the next run."""
    from shelfsync.catalog.steps.sync import run_recover

    with open_app(PLATFORM, read_only=_dry_run()) as app:
        result = run_recover(app, run)
    for vendor, reason in result.pop("failed").items():
        log.warning("vendor %s: %s", vendor, reason)
    return result


@task
def extract(run: int) -> list[dict[str, Any]]:
    """Reads the ERP into the lake with a proof that nothing is missing, and cuts the vendors into shards."""
    from shelfsync.catalog.steps.sync import run_extract

    with open_app(PLATFORM, ERP, read_only=_dry_run()) as app:
        return run_extract(app, run)


@task(map_index_template=SHARD_LABEL)
def prepare(shard: dict[str, Any]) -> list[dict[str, Any]]:
    """Finds what must change on the platform, and divides the changes that no guard holds into request bodies; sends nothing.

    Normalise (the platform would reject some rows: they are quarantined), diff (against what the platform acknowledged), guard (what
    looks wrong is held for a person), batch (committed before anything is sent).
    """
    return take(("normalise", "diff", "guard", "batch"), shard)


@task(map_index_template=SHARD_LABEL)
def deliver(shard: dict[str, Any], params: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """Sends every batch of each vendor. A dry run ends here: the report holds the plan."""
    if params and params["dry_run"]:
        raise AirflowSkipException("Dry run: nothing is sent; the report holds the plan.")
    return take(("deliver",), shard)


@task(map_index_template=SHARD_LABEL)
def confirm(shard: dict[str, Any]) -> list[dict[str, Any]]:
    """Fetches the jobs' logs, finds the outcome of each SKU, and moves the baseline by what the platform accepted."""
    return take(("confirm", "acknowledge"), shard)


@task(trigger_rule="all_done")
def report(run: int | None) -> dict[str, Any]:
    """Closes the run and reports it; fails when a vendor or a task failed, and names each with its reason."""
    from shelfsync.catalog.steps.run import report as close_run

    if run is None and task_states().get("check") == "skipped":
        raise AirflowSkipException("There was nothing to do; see the log of the task check.")
    if run is None:
        raise AirflowFailException("The run did not begin, nothing was read or sent: see the log of the task check.")
    failed = failed_tasks()
    with open_app(PLATFORM) as app:
        summary = close_run(app, run)
    for line in summary.pop("lines"):
        log.info("%s", line)
    summary.pop("plan", None)  # the lines have it
    vendors = summary.pop("vendors")  # the ledger has them, and they may be hundreds
    troubles = [
        f"vendor {row['vendor']} failed at {row['failed_step']}: {row['error']}"
        for row in vendors
        if row["state"] == "failed"
    ]
    if summary["error"] and not troubles and summary["state"] != "partly":
        troubles.append(summary["error"])
    troubles += summary["alarms"]
    if troubles and summary["runbooks"]:
        troubles.append(f"runbooks: {', '.join(summary['runbooks'])}")
    stop_for([f"task {name} failed: see its log, then clear it" for name in failed] + troubles)
    emit(run, summary["state"])
    return summary


@task
def recover() -> dict[str, Any]:
    """Finishes open work: jobs without a webhook, logs that were not fetched, batches that were not sent."""
    from shelfsync.catalog.steps.recover import recover as recover_all

    with open_app(PLATFORM) as app:
        result = recover_all(app)
    stop_for([f"vendor {vendor}: {why}" for vendor, why in result["failed"].items()])
    return result


@task
def watch_alerts() -> dict[str, Any]:
    """Opens and closes alerts, and sends their messages, now and half a minute later. A route that refuses is an alert itself, so it fails no task."""
    from shelfsync.alert_conditions.watch import watch
    from shelfsync_airflow.dag_states import kinds_off, wrong_dags

    counts: Counter[str] = Counter()
    with open_app(PLATFORM_IF_SET, ALERTS) as app:  # without it every other DAG fails, and this one reports that
        for pause_s in (0.0, BETWEEN_LOOKS_S):
            app.clock.sleep(pause_s)
            looked = watch(app, find_dags=wrong_dags, off=kinds_off())
            counts.update({name: len(found) for name, found in looked.items()})
    return dict(counts)


@task
def remove_expired() -> dict[str, Any]:
    """Removes rows and files that are older than their retention and no longer needed."""
    from shelfsync.housekeeping.remove_expired import remove_expired as remove

    with open_app() as app:
        result = remove(app)
    for line in result.pop("lines"):
        log.info("%s", line)
    return result


def take(words: Sequence[str], shard: dict[str, Any]) -> list[dict[str, Any]]:
    """These steps for one shard; counts of each. A vendor that fails is named in the log and in the report, and stops no other."""
    from shelfsync.catalog.ledger import runs
    from shelfsync.catalog.steps.sync import step

    counts = []
    with open_app(PLATFORM, read_only=_dry_run()) as app, runs.at_work(app.engine, shard["run"]):
        for word in words:
            report = step(app, word, shard["run"], shard["vendors"])
            for vendor, why in report["skipped"].items():
                log.info("%s: vendor %s passed over: %s", word, vendor, why)
            count = {"done": report["done"], "skipped": len(report["skipped"]), "failed": len(report["failed"])}
            log.info("%s: %d vendors done, %d passed over, %d failed", word, *count.values())
            counts.append({"step": word, **count})
    return counts


def _dry_run() -> bool:
    """Whether this is a dry run: then its client cannot change the platform."""
    return bool(get_current_context()["params"].get("dry_run"))


def stop_for(troubles: list[str]) -> None:
    """Fails the task if there are errors: one line for each, then all of them in the message that Airflow shows."""
    for trouble in troubles:
        log.error("%s", trouble)
    if troubles:
        more = f"; and {len(troubles) - SHOWN_MAX} more" if len(troubles) > SHOWN_MAX else ""
        raise AirflowFailException("; ".join(troubles[:SHOWN_MAX]) + more)


def failed_tasks() -> list[str]:
    """The tasks of this run that failed, by name and number of the shard."""
    return sorted(name for name, state in task_states().items() if state == "failed")


def task_states() -> dict[str, Any]:
    """The state of each task of this run, by name and number of the shard."""
    context = get_current_context()
    dag_id, run_id = context["dag"].dag_id, context["run_id"]
    states: dict[str, Any] = context["ti"].get_task_states(dag_id=dag_id, run_ids=[run_id]).get(run_id, {})
    return states


def sync_form() -> dict[str, Param]:
    """The form for starting a run by hand."""
    return {
        "vendors": vendors_field("of the extract"),
        "dry_run": flag_field("Dry run", "Go as far as the batches, send nothing, and show the plan in the report."),
    }


def vendors_field(which: str) -> Param:
    """The field for vendors; `which`: those that an empty one means."""
    described = f"One vendor id a line; empty means every vendor {which}."
    return Param([], type=["array", "null"], items={"type": "string"}, title="Vendors", description=described)


def flag_field(title: str, description: str) -> Param:
    """A field for yes or no; no by default."""
    return Param(default=False, type="boolean", title=title, description=description)


def urgent_form() -> dict[str, Param]:
    """The required form of an urgent run."""
    words: dict[str, Any] = {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}
    return {
        "vendors": Param([], **words, title="Vendors", description="The vendors, one vendor id a line."),
        "skus": Param(
            [], **words, title="SKUs", description="The SKUs to send at once, one a line, spelt as in the ERP."
        ),
        "dry_run": sync_form()["dry_run"],
    }


@task_group
def shard(shard: dict[str, Any]) -> None:
    """The path of some vendors, in parallel with the other shards; a vendor that fails stops none of them.

    All bodies of a vendor (stop-sells, then prices, then the rest) are with the platform at once. What is left goes on in
    catalog_recover.
    """
    chain(
        prepare(shard=shard),
        deliver(shard=shard),
        WaitOperator(
            task_id="wait",
            doc_md="Waits in the triggerer until every job has ended or its deadline has passed; a delta at most until the next one is due,"
            " with delta_watch = changes at most a minute.",
        ),
        confirm(shard=shard),
    )
