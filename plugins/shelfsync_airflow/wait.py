"""Waiting for the platform's jobs without a worker.

The operator begins and ends in the triggerer: a deferral that passes through a worker can be lost by the LocalExecutor when its
event comes within seconds. The database records what the wait is for, so another triggerer can take over from a dead one.
"""

from __future__ import annotations

import asyncio
import json
import time
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from airflow.sdk import BaseOperator, Context
from airflow.triggers.base import (
    BaseTrigger,
    StartTriggerArgs,
    TaskFailedEvent,
    TaskSuccessEvent,
    TriggerEvent,
)

from shelfsync.chosen_chain import chain_in_use, chosen
from shelfsync.errors import ConfigurationError, UnreachableError
from shelfsync_airflow.schedules import watches

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from shelfsync.context import Context as AppContext

SHARD_OF_THIS_INDEX = "{{ ti.xcom_pull(task_ids='extract', map_indexes=None)[ti.map_index] | tojson }}"
SHARD_OF_THIS_EXPORT = "{{ ti.xcom_pull(task_ids='plan', map_indexes=None)[ti.map_index] | tojson }}"


AWAY_S, LOOK_AGAIN_S = 3600.0, 10.0
"""How long a wait tries again after errors that may pass, such as a database that is away, and how often."""


class JobsTrigger(BaseTrigger):
    """Fires when every open job of a shard has ended, or its deadline has passed; of a delta also when its time is over
    (`catalog.steps.wait_limit`). It only reads and polls, so it may run anywhere, even twice.

    `shard` is the shard as JSON text (`{"run": 7, "vendors": ["store-001"], ...}`), or the template that gives it; promotions have no
    vendors in it. `kind`: catalog, export or promotion. `chain`: None in an installation without chains.
    """

    def __init__(self, shard: str, kind: str = "catalog", chain: str | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.shard = shard
        self.kind = kind
        self.chain = chain

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{type(self).__module__}.{type(self).__qualname__}", {
            "shard": self.shard,
            "kind": self.kind,
            "chain": self.chain,
        }

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Tries again by itself: a retry of Airflow would repeat an error that no retry corrects, and the task has none (`WaitOperator`)."""
        until_s = time.monotonic() + AWAY_S
        while True:
            try:
                facts = await self.facts(json.loads(self.shard))
            except Exception as error:  # noqa: BLE001  whatever it is, the wait goes on, or ends with its reason
                final, why = await asyncio.to_thread(_reason, error)
                if final or time.monotonic() > until_s:
                    self.log.error("the wait has failed: %s", why)  # noqa: TRY400  the one line is the whole message
                    yield TaskFailedEvent()
                    return
                self.log.warning("the wait goes on: %s", why)
                await asyncio.sleep(LOOK_AGAIN_S)
            else:
                yield TaskSuccessEvent(xcoms={"return_value": facts})
                return

    async def facts(self, shard: dict[str, Any]) -> dict[str, Any]:
        """Waits, and returns counts."""
        app, until_ended = await asyncio.to_thread(_wait, self.kind, shard["run"], self.chain)
        return await until_ended(app, run=shard["run"], vendors=tuple(shard.get("vendors", ())))


class WaitOperator(BaseOperator):
    """Waits, without a worker, for the jobs of one kind. It has no retries: Airflow counts them for a `TaskFailedEvent` too, and the trigger
    tries again by itself.

    `shard`: the template that gives the trigger's shard as JSON text; without one, the shard of the catalog's extract with this
    task's map index.
    """

    template_fields = ("shard",)  # Airflow renders those arguments of the trigger that are named here, and no other
    ui_color = "#e8e4f3"
    start_from_trigger = True

    def __init__(
        self,
        *,
        kind: str = "catalog",
        shard: str = SHARD_OF_THIS_INDEX,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{**kwargs, "retries": 0})  # also where the DAG's default_args have more
        self.shard = shard
        self.kind = kind
        self.chain = chain_in_use()
        self.start_trigger_args = StartTriggerArgs(
            trigger_cls=f"{JobsTrigger.__module__}.{JobsTrigger.__qualname__}",
            trigger_kwargs={"shard": shard, "kind": kind, "chain": self.chain},
            next_method="resume",
        )

    def execute(self, context: Context) -> NoReturn:  # noqa: ARG002
        """Never called by a scheduler; `dag.test()` has no triggerer and comes through here."""
        self.defer(trigger=JobsTrigger(self.shard, self.kind, self.chain), method_name="resume")

    def resume(self, context: Context, event: Any = None) -> None:
        """The end of the way through `execute`; a trigger that was started by the scheduler ends the task itself."""


# Imports, settings and context are made on a thread: the triggerer's loop belongs to all waits.


def _wait(kind: str, run: int | str, chain: str | None) -> tuple[AppContext, Callable[..., Awaitable[dict[str, Any]]]]:
    from shelfsync.catalog.steps.wait_limit import wait_s
    from shelfsync.platform.jobs.table import Kind
    from shelfsync.platform.jobs.wait import until_ended
    from shelfsync_airflow.app import PLATFORM, shared_app

    app = shared_app(PLATFORM, chain=chain)
    with chosen(chain):
        watching = watches()
    most_s = wait_s(app, int(run), watching=watching) if kind == Kind.CATALOG else None
    return app, partial(until_ended, kind=Kind(kind), wait_s=most_s)


def _reason(error: Exception) -> tuple[bool, str]:
    """Whether no repetition mends it, and why."""
    from shelfsync.platform.jobs.job import reason_of
    from shelfsync.secret_mask import mask
    from shelfsync.store.engine import trouble

    known = trouble(error) or error
    final = isinstance(known, ConfigurationError) and not isinstance(known, UnreachableError)
    return final, mask(reason_of(known))
