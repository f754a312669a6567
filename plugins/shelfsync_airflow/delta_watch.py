"""The schedule of the delta, and with the option `delta_watch` the trigger that starts one as soon as the ERP has changes.

The triggerer watches: no worker is occupied.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset, AssetWatcher
from airflow.triggers.base import BaseEventTrigger, TriggerEvent

from shelfsync.chosen_chain import chain_in_use, of_chain
from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync_airflow.schedules import schedule_or_asset, timetable, watches

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ASSET = "shelfsync_erp_changes"
AGAIN_S = 60.0
"""How long the same news is reported once: a run needs seconds to begin and to read it."""


class ChainEventTrigger(BaseEventTrigger):
    """A trigger that watches one chain; None in an installation without chains."""

    def __init__(self, chain: str | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.chain = chain

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{type(self).__module__}.{type(self).__qualname__}", {"chain": self.chain}


class ChangesTrigger(ChainEventTrigger):
    """Fires when the ERP of a chain has changes and no delta is at work. It only reads, so it may run anywhere, even twice."""

    async def run(self) -> AsyncIterator[TriggerEvent]:
        reported, reported_at_s = "", 0.0
        while True:
            every_s, why = AGAIN_S, None
            try:
                every_s, why = await asyncio.to_thread(_look, self.chain)
            except ConfigurationError as error:
                self.log.error("%s", error)  # noqa: TRY400  the one line is the whole message
            except ShelfsyncError as error:
                self.log.warning("%s", error)
            if why is not None and (why != reported or time.monotonic() - reported_at_s > AGAIN_S):
                reported, reported_at_s = why, time.monotonic()
                yield TriggerEvent({"why": why})  # type: ignore[no-untyped-call]  # Airflow's constructor
            await asyncio.sleep(every_s)


def _look(chain: str | None) -> tuple[float, str | None]:
    """Seconds to the next look, and why a delta should run now. On a thread: the triggerer's loop belongs to all waits."""
    from shelfsync.catalog.steps.watch import delta_at_work, news
    from shelfsync_airflow.app import ERP, PLATFORM, shared_app
    from shelfsync_airflow.masking import masked_errors

    with masked_errors():
        context = shared_app(PLATFORM, ERP, chain=chain)
        why = None if delta_at_work(context) else news(context)
    return context.settings.sync.watch_s, why


def delta_schedule() -> Any:
    """The schedule of the delta: the cron of the option, and with `delta_watch` the ERP's changes too."""
    if not watches():
        return timetable("delta")
    chain = chain_in_use()
    trigger = ChangesTrigger(chain)
    return schedule_or_asset(
        "delta", Asset(of_chain(ASSET, chain), watchers=[AssetWatcher(name="erp", trigger=trigger)])
    )
