"""The tasks of the promotions' path, each named after its step. Every task may run again: the ledger records finished work."""

from __future__ import annotations

import logging
from typing import Any

from airflow.sdk import Asset, Param, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from shelfsync.chosen_chain import chain_in_use, keeps_names, of_chain
from shelfsync.errors import some_of
from shelfsync_airflow.app import ERP, PLATFORM, open_app
from shelfsync_airflow.assets import emit
from shelfsync_airflow.schedules import schedule_or_asset
from shelfsync_airflow.tasks import flag_field
from shelfsync_airflow.wait import WaitOperator

log = logging.getLogger(__name__)


def changed() -> Asset:
    """An event of it (POST /api/v2/assets/events, or a DAG of the operator that has it as an outlet) starts a run of the chain at once."""
    chain = chain_in_use()
    uri = "x-shelfsync://promotions/changed" + ("" if keeps_names(chain) else f"/{chain}")
    return Asset(of_chain("shelfsync_promotions_changed", chain), uri=uri)


def promotions_schedule() -> Any:
    """The cron of the option, and the asset."""
    return schedule_or_asset("promotions", changed())


RUN_OF_CHECK = """{"run": {{ ti.xcom_pull(task_ids='check', map_indexes=None) | tojson }}}"""
_SHOWN_MAX = 20
_NOT_CONFIGURED = (
    "No promotions are configured (SHELFSYNC_PROMOTIONS__SQL, __SQL_FILE or __FILES), so there is nothing to do."
)


@task
def check() -> int:
    """Checks that database, ERP and platform are reachable, and opens the run."""
    from shelfsync.check import check as check_all
    from shelfsync.promotions.steps.extract import open_run

    context = get_current_context()
    with open_app(PLATFORM, ERP) as app:
        if not app.settings.promotions.configured:
            raise AirflowSkipException(_NOT_CONFIGURED)
        check_all(app, (), fresh=False)
        return open_run(app, f"{context['dag'].dag_id}/{context['run_id']}", dry_run=bool(context["params"]["dry_run"]))


@task
def extract(run: int) -> dict[str, Any]:
    """Reads the ERP's promotions into the lake with a proof that nothing is missing."""
    from shelfsync.promotions.steps.extract import extract as read_promotions

    with open_app(PLATFORM, ERP) as app:
        return read_promotions(app, run)


@task
def plan(run: int) -> dict[str, int]:
    """Compares what the ERP wants with the acknowledged state, and commits the requests before any is sent. The report has the plan."""
    from shelfsync.promotions.steps.plan import plan as commit_plan

    with open_app(PLATFORM) as app:
        result = commit_plan(app, run)
    counts: dict[str, int] = result["counts"]
    return counts


@task
def deliver(params: dict[str, Any] | None = None) -> dict[str, Any]:
    """Sends what is planned. A dry run ends here."""
    from shelfsync.promotions.steps.deliver import deliver as send

    if params and params["dry_run"]:
        raise AirflowSkipException("Dry run: nothing is sent; the report holds the plan.")
    with open_app(PLATFORM) as app:
        return send(app).as_dict()


def wait(task_id: str) -> WaitOperator:
    """Waits, without a worker, until every job of the run has ended or its deadline has passed."""
    return WaitOperator(task_id=task_id, kind="promotion", shard=RUN_OF_CHECK, doc_md=wait.__doc__)


@task
def confirm() -> dict[str, Any]:
    """Finds the outcome of each SKU and vendor that was sent."""
    from shelfsync.promotions.steps.confirm import confirm as confirm_jobs

    with open_app(PLATFORM) as app:
        return confirm_jobs(app).as_dict()


@task(trigger_rule="all_done")
def report(run: int | None) -> dict[str, Any]:
    """Closes the run and reports it; fails when a request or a task failed, and names each with its reason."""
    from shelfsync.promotions.steps.report import report as close_run

    with open_app(PLATFORM) as app:
        if run is None and not app.settings.promotions.configured:
            raise AirflowSkipException(_NOT_CONFIGURED)
        if run is None:
            raise AirflowFailException(
                "The run did not begin, nothing was read or sent: see the log of the task check."
            )
        summary = close_run(app, run)
    for line in summary.pop("lines"):
        log.info("%s", line)
    summary.pop("actions")
    if summary["state"] in {"failed", "partly_failed"}:
        log.error("%s", summary["error"])
        raise AirflowFailException(str(summary["error"]))
    if not summary["unfinished"]:
        emit(run, summary["state"])
    return summary


@task
def recover() -> dict[str, Any]:
    """Finishes what tasks and processes lost: requests without an answer, jobs without a poll."""
    from shelfsync.promotions.steps.recover import recover as recover_all

    with open_app(PLATFORM) as app:
        result = recover_all(app)
    if result["failed"]:
        lines = [f"campaign {campaign}: {why}" for campaign, why in result["failed"].items()]
        raise AirflowFailException("; ".join(lines[:_SHOWN_MAX]))
    return result


@task
def start_sync() -> list[str]:
    """Starts promotions_sync by its asset if a person has approved what is held, or a campaign's base price is known now; else it is skipped."""
    from shelfsync.promotions.steps.new_work import approved_waiting, vendors_with_new_prices

    with open_app(PLATFORM) as app:
        approved, vendors = approved_waiting(app), vendors_with_new_prices(app)
    if not approved and not vendors:
        raise AirflowSkipException("No campaign was approved, and none waits for a base price that is known now.")
    if approved:
        log.info("approved and not sent yet: %s", some_of(approved))
    if vendors:
        log.info("base prices that campaigns wait for are known now: %s", some_of(vendors))
    return [*approved, *vendors][:_SHOWN_MAX]


def promotion_form() -> dict[str, Param]:
    """A dry run or not."""
    return {"dry_run": flag_field("Dry run", "Go as far as the plan, send nothing, and show it in the report.")}
