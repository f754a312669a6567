"""Waiting for the platform's jobs without a worker.

The operator begins and ends in the triggerer: a deferral that passes through a worker can be lost by the LocalExecutor when its
event comes within seconds. What the wait is for stands in the database, so a triggerer that dies is taken over by the next.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from typing import TYPE_CHECKING, Any, NoReturn

from airflow.sdk import BaseOperator, Context
from airflow.sdk.exceptions import AirflowSkipException
from airflow.triggers.base import (
    BaseTrigger,
    StartTriggerArgs,
    TaskFailedEvent,
    TaskSkippedEvent,
    TaskSuccessEvent,
    TriggerEvent,
)

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

FIRST, LATER, LAST = "first", "later", "last"
SHARD_OF_THIS_INDEX = "{{ ti.xcom_pull(task_ids='extract', map_indexes=None)[ti.map_index] | tojson }}"
SHARD_OF_THIS_EXPORT = "{{ ti.xcom_pull(task_ids='plan', map_indexes=None)[ti.map_index] | tojson }}"


class SettledTrigger(BaseTrigger):
    """Fires when every open job of a shard has its facts, or its deadline has passed. It only reads: it may run anywhere, twice.

    `shard` is the shard as JSON text (`{"run": 7, "vendors": ["store-001"], ...}`), or the template that gives it.
    """

    def __init__(self, shard: str, turn: str = FIRST) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.shard = shard
        self.turn = turn

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{type(self).__module__}.{type(self).__qualname__}", {"shard": self.shard, "turn": self.turn}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        shard = json.loads(self.shard)
        try:
            facts = await self.facts(shard)
        except ConfigurationError as error:
            self.log.error("%s", error)  # noqa: TRY400  the one line is all there is to say
            yield TaskFailedEvent()
        else:
            if self.turn in {LATER, LAST} and not facts["open"]:
                yield TaskSkippedEvent()
                return
            yield TaskSuccessEvent(xcoms={"return_value": facts})

    async def facts(self, shard: dict[str, Any]) -> dict[str, Any]:
        """Waits, and returns counts."""
        wiring, settings = await _wiring()
        facts: dict[str, Any] = await wiring.until_settled(
            settings, int(shard["run"]), tuple(shard["vendors"]), for_all=self.turn == LAST
        )
        return facts


class ExportedTrigger(SettledTrigger):
    """Fires when every export of a shard has ended, or its deadline has passed; its run is named by a text."""

    async def facts(self, shard: dict[str, Any]) -> dict[str, Any]:
        wiring, settings = await _wiring()
        facts: dict[str, Any] = await wiring.until_exported(settings, str(shard["run"]), tuple(shard["vendors"]))
        return facts


class PromotionsSettledTrigger(SettledTrigger):
    """Fires when every promotion job of a run has ended, or its deadline has passed. `shard` names the run alone: `{"run": 7}`."""

    async def facts(self, shard: dict[str, Any]) -> dict[str, Any]:
        wiring, settings = await _wiring()
        facts: dict[str, Any] = await wiring.until_promotions_settled(settings, int(shard["run"]))
        return facts


class WaitOperator(BaseOperator):
    """Waits, without a worker, for what `trigger` waits for.

    `shard`: the template that gives the trigger's shard as JSON text; without one, the shard of the catalog's extract with this
    task's map index. `turn`: the first wait; a later one, which is skipped with what comes after it when nothing is in flight any
    more; or the last, which waits for every job instead of the first after which more is to be sent.
    """

    template_fields = ("shard",)  # Airflow renders those arguments of the trigger that are named here, and no other
    ui_color = "#e8e4f3"
    start_from_trigger = True

    def __init__(
        self,
        *,
        trigger: type[SettledTrigger] = SettledTrigger,
        shard: str = SHARD_OF_THIS_INDEX,
        turn: str = FIRST,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.shard = shard
        self.turn = turn
        self.trigger = trigger
        self.start_trigger_args = StartTriggerArgs(
            trigger_cls=f"{trigger.__module__}.{trigger.__qualname__}",
            trigger_kwargs={"shard": shard, "turn": turn},
            next_method="resume",
        )

    def execute(self, context: Context) -> NoReturn:  # noqa: ARG002
        """Never called by a scheduler; `dag.test()` has no triggerer and comes through here."""
        self.defer(trigger=self.trigger(self.shard, self.turn), method_name="resume")

    def resume(self, context: Context, event: Any = None) -> None:  # noqa: ARG002  Airflow's signature
        """The end of the way through `execute`; a trigger that was started by the scheduler ends the task itself."""
        if "skipped" in str(event):
            raise AirflowSkipException("Nothing of this shard is in flight any more.")


async def _wiring() -> tuple[Any, Any]:
    """Imports and settings are read on a thread: the triggerer's loop belongs to all waits."""
    house = await asyncio.to_thread(importlib.import_module, "shelfsync_airflow.house")
    wiring = await asyncio.to_thread(importlib.import_module, "shelfsync.wiring")
    return wiring, await asyncio.to_thread(house.house_settings, house.PLATFORM)
