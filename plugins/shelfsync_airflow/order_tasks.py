"""The tasks of the orders' DAGs: open a context, run the step, report its result to Airflow. XCom has only counts."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset, AssetWatcher, task
from airflow.triggers.base import TriggerEvent

from shelfsync.chosen_chain import chain_in_use, of_chain
from shelfsync_airflow.app import ORDERS, PLATFORM, open_app
from shelfsync_airflow.delta_watch import ChainEventTrigger
from shelfsync_airflow.schedules import schedule, schedule_or_asset
from shelfsync_airflow.tasks import SHOWN_MAX, failed_tasks, stop_for

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from shelfsync.context import Context

log = logging.getLogger(__name__)
ASSET = "shelfsync_waiting_orders"


@task
def take() -> dict[str, int]:
    """Applies the unprocessed order events of the inbox."""
    from shelfsync.orders.steps.take_events import take as take_events

    with open_app(PLATFORM, ORDERS) as app:
        return take_events(app)


@task(trigger_rule="all_done")
def hand_over() -> dict[str, Any]:
    """Delivers new and cancelled orders to stores, and records which ones they have taken."""
    return _hand_over()


@task(trigger_rule="all_done", retries=0)
def collect() -> dict[str, Any]:
    """Reads picking results from the store's database; fails once for each rejected one.

    If that database is away, the next run reads it: one run goes on at a time, and a retry would delay the orders of every store.
    """
    from shelfsync.orders.steps.collect import collect as collect_results

    with open_app(PLATFORM, ORDERS) as app:
        counts = collect_results(app)
    stop_for(counts.pop("alarms"))
    return {**counts, "rejected": len(counts["rejected"])}


@task(trigger_rule="all_done")
def fulfil() -> dict[str, Any]:
    """Sends picking results; fails on errors that a retry cannot correct."""
    from shelfsync.orders.steps.fulfil import fulfil as fulfil_orders

    return _counts(fulfil_orders, "order")


@task(trigger_rule="all_done")
def reply() -> dict[str, Any]:
    """Delivers the outcomes of picking results to stores, within the same minute."""
    return _hand_over()


@task(trigger_rule="all_done")
def watch() -> None:
    """Fails once for each new alarm, and for failed tasks."""
    from shelfsync.orders.steps.watch import watch_stores

    _stop_for_alarms(watch_stores)


@task
def history() -> dict[str, Any]:
    """Reads the order history; fails if the history of a store cannot be read, after all others."""
    from shelfsync.orders.steps.history import history as read_history

    return _counts(read_history, "vendor")


@task(trigger_rule="all_done")
def watch_history() -> None:
    """Fails once for each store whose history will soon be out of range, and for failed tasks."""
    from shelfsync.orders.steps.watch import watch_history as watch_histories

    _stop_for_alarms(watch_histories)


def _counts(step: Callable[[Context], dict[str, Any]], of: str) -> dict[str, Any]:
    """What the step counted; fails the task for each order or vendor (`of`) that failed."""
    with open_app(PLATFORM, ORDERS) as app:
        counts = step(app)
    failed: dict[str, str] = counts.pop("failed")
    stop_for([f"{of} {name}: {why}" for name, why in failed.items()])
    return counts


def _stop_for_alarms(watch: Callable[[Context], list[str]]) -> None:
    """Fails the task for each new alarm, and for failed tasks of the run."""
    failed = failed_tasks()
    with open_app(PLATFORM, ORDERS) as app:
        new = watch(app)
    stop_for([f"task {name} failed: see its log" for name in failed] + new)


def _hand_over() -> dict[str, Any]:
    from shelfsync.orders.steps.hand_over import hand_over

    with open_app(PLATFORM, ORDERS) as app:
        counts = hand_over(app)
    for number, why in list(counts["failed"].items())[:SHOWN_MAX]:
        log.warning("hand_over: number %s: %s", number, why)
    return {**counts, "failed": len(counts["failed"])}


class WaitingOrdersTrigger(ChainEventTrigger):
    """Fires when there are unprocessed order events or picking results. It only reads, so it may run anywhere, even twice."""

    async def run(self) -> AsyncIterator[TriggerEvent]:
        context, waiting_work = await asyncio.to_thread(_waiting_work, self.chain)
        async for waiting in waiting_work(context):
            yield TriggerEvent({"waiting": waiting})  # type: ignore[no-untyped-call]  # Airflow's constructor


def _waiting_work(chain: str | None) -> tuple[Context, Callable[[Context], AsyncIterator[int]]]:
    """Imports, settings and context on a thread: the triggerer's loop belongs to all waits."""
    from shelfsync.orders.steps.take_events import waiting_work
    from shelfsync_airflow.app import PLATFORM, shared_app

    return shared_app(PLATFORM, chain=chain), waiting_work


def orders_schedule() -> Any:
    """The schedule of the DAG: the cron of the option, and the asset. Without a cron, the DAG is only started by hand."""
    if schedule("orders") is None:
        return None
    chain = chain_in_use()
    trigger = WaitingOrdersTrigger(chain)
    return schedule_or_asset(
        "orders", Asset(of_chain(ASSET, chain), watchers=[AssetWatcher(name="inbox", trigger=trigger)])
    )
