"""The tasks of the promotions' path, each named by its step's word. Every one may run again: the ledger knows what has been done."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
from typing import TYPE_CHECKING, Any, NoReturn

from airflow.sdk import Asset, BaseOperator, Context, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from airflow.triggers.base import BaseTrigger, StartTriggerArgs, TaskFailedEvent, TaskSuccessEvent, TriggerEvent

from shelfsync.errors import ConfigurationError
from shelfsync_airflow.house import ERP, PLATFORM, open_house

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

log = logging.getLogger(__name__)

CHANGED = Asset("shelfsync_promotions_changed", uri="x-shelfsync://promotions/changed")
"""An event of it (POST /api/v2/assets/events, or a DAG of yours that has it as an outlet) starts a run at once."""

RUN_OF_CHECK = "{{ ti.xcom_pull(task_ids='check') | tojson }}"
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


class PromotionsSettledTrigger(BaseTrigger):
    """Fires when every job of a run has ended or its deadline has passed. It only asks: it may run anywhere, twice."""

    def __init__(self, run: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.run_number = run

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{type(self).__module__}.{type(self).__qualname__}", {"run": self.run_number}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        try:
            facts = await _settled(int(json.loads(self.run_number)))
        except ConfigurationError as error:
            self.log.error("%s", error)  # noqa: TRY400  the one line is all there is to say
            yield TaskFailedEvent()
        else:
            yield TaskSuccessEvent(xcoms={"return_value": facts})


class WaitOperator(BaseOperator):
    """Waits for the jobs of this run without a worker (see `shelfsync_airflow.wait`)."""

    template_fields = ("run_number",)
    ui_color = "#e8e4f3"
    start_from_trigger = True
    start_trigger_args = StartTriggerArgs(
        trigger_cls=f"{PromotionsSettledTrigger.__module__}.{PromotionsSettledTrigger.__qualname__}",
        trigger_kwargs={"run": RUN_OF_CHECK},
        next_method="resume",
    )

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.run_number = RUN_OF_CHECK

    def execute(self, context: Context) -> NoReturn:  # noqa: ARG002
        """Never called by a scheduler; `dag.test()` has no triggerer and comes through here."""
        self.defer(trigger=PromotionsSettledTrigger(self.run_number), method_name="resume")

    def resume(self, context: Context, event: Any = None) -> None:
        """The end of the way through `execute`."""


async def _settled(run: int) -> dict[str, Any]:
    """Imports and settings are read on a thread: the triggerer's loop belongs to all waits."""
    house = await asyncio.to_thread(importlib.import_module, "shelfsync_airflow.house")
    wiring = await asyncio.to_thread(importlib.import_module, "shelfsync.wiring")
    settings = await asyncio.to_thread(house.house_settings, house.PLATFORM)
    facts: dict[str, Any] = await wiring.until_promotions_settled(settings, run)
    return facts
