"""Starts the orders' DAG on new events and results: an asset with a watcher of the inbox, beside a schedule."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset, AssetOrTimeSchedule, AssetWatcher, CronTriggerTimetable
from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from shelfsync_airflow.options import schedule

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from shelfsync.context import Context

ASSET = "shelfsync_waiting_orders"


class WaitingOrdersTrigger(BaseEventTrigger):
    """Fires when there are unprocessed order events or picking results. It only reads, so it may run anywhere, even twice."""

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{type(self).__module__}.{type(self).__qualname__}", {}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        context, waiting_work = await asyncio.to_thread(_waiting_work)
        async for waiting in waiting_work(context):
            yield TriggerEvent({"waiting": waiting})  # type: ignore[no-untyped-call]  # Airflow's constructor


def _waiting_work() -> tuple[Context, Callable[[Context], AsyncIterator[int]]]:
    """Imports, settings and context on a thread: the triggerer's loop belongs to all waits."""
    from shelfsync.orders.steps.waiting_work import waiting_work
    from shelfsync_airflow.app import PLATFORM, shared_app

    return shared_app(PLATFORM), waiting_work


def order_schedule() -> Any:
    """The schedule of the DAG: the cron of the option, and the asset. Without a cron, the DAG is only started by hand."""
    cron = schedule("orders")
    if cron is None:
        return None
    trigger = WaitingOrdersTrigger()  # type: ignore[no-untyped-call]  # Airflow's constructor
    asset = Asset(ASSET, watchers=[AssetWatcher(name="inbox", trigger=trigger)])
    return AssetOrTimeSchedule(timetable=CronTriggerTimetable(cron, timezone="UTC"), assets=[asset])
