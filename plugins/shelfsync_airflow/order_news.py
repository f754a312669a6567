"""Waking the orders' DAG when there is news: an asset whose watcher listens to the inbox, beside a schedule that carries what a nudge lost."""

from __future__ import annotations

import asyncio
import importlib
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset, AssetOrTimeSchedule, AssetWatcher, CronTriggerTimetable
from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from shelfsync_airflow.options import schedule

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NEWS = "shelfsync_order_news"


class OrderNewsTrigger(BaseEventTrigger):
    """Fires when order events or picking results wait that nobody has worked on. It only reads; it may run anywhere, twice."""

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{type(self).__module__}.{type(self).__qualname__}", {}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        house = await asyncio.to_thread(importlib.import_module, "shelfsync_airflow.house")
        wiring = await asyncio.to_thread(importlib.import_module, "shelfsync.wiring")
        settings = await asyncio.to_thread(house.house_settings, house.PLATFORM)
        async for waiting in wiring.order_news(settings):
            yield TriggerEvent({"waiting": waiting})


def often_and_at_once() -> Any:
    """The schedule of the DAG: the option's, and the news. Without a schedule it is started by hand alone."""
    cron = schedule("orders")
    if cron is None:
        return None
    news = Asset(NEWS, watchers=[AssetWatcher(name="inbox", trigger=OrderNewsTrigger())])
    return AssetOrTimeSchedule(timetable=CronTriggerTimetable(cron, timezone="UTC"), assets=[news])
