"""What a test asks shelfsync to do, by short names: each method calls the function that does the work with the context."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from other_calls import InboxCalls, OrderCalls, PromotionCalls
from shelfsync import check
from shelfsync.app import open_app
from shelfsync.catalog.steps import (
    apply,
    backtest,
    counts,
    export,
    pause,
    plan,
    recover,
    rejected_skus,
    restore,
    run,
    run_history,
    sync,
    urgent,
)
from shelfsync.cli.inspect import read_status
from shelfsync.decisions.ledger import hold_expiry
from shelfsync.decisions.ledger.tables import hold
from shelfsync.decisions.state import Place
from shelfsync.decisions.steps import decide, lists, other_thresholds
from shelfsync.decisions.steps.question import question
from shelfsync.explain.explain import explain
from shelfsync.housekeeping.remove_expired import remove_expired
from shelfsync.platform import kill_switch
from shelfsync.platform.jobs import wait
from shelfsync.platform.jobs.table import Kind
from shelfsync.store.metadata import instant
from shelfsync.warehouse import duckdb_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from partner_api.session import Clock
    from shelfsync.context import Context
    from shelfsync.settings import Settings


@contextlib.contextmanager
def open_calls(settings: Settings, *, clock: Clock | None = None, read_only: bool = False) -> Iterator[Calls]:
    """The calls over a context that is open as long as the block lasts."""
    with open_app(settings, clock=clock, read_only=read_only) as context:
        yield Calls(context)


@dataclass(frozen=True)
class Calls:
    """The catalog's path and what a person does with it; `holds`, `promotions`, `orders` and `inbox` have calls of their own."""

    context: Context

    @property
    def holds(self) -> HoldCalls:
        return HoldCalls(self.context)

    @property
    def promotions(self) -> PromotionCalls:
        return PromotionCalls(self.context)

    @property
    def orders(self) -> OrderCalls:
        return OrderCalls(self.context)

    @property
    def inbox(self) -> InboxCalls:
        return InboxCalls(self.context)

    def check(self, vendors: tuple[str, ...] = (), *, fresh: bool = True) -> None:
        check.check(self.context, vendors, fresh=fresh)

    def warnings(self) -> list[str]:
        return check.warnings(self.context)

    def open_run(
        self, kind: str, key: str, vendors: tuple[str, ...] = (), *, skus: tuple[str, ...] = (), dry_run: bool = False
    ) -> int:
        return run.open_run(self.context, kind=kind, key=key, vendors=vendors, skus=skus, dry_run=dry_run)

    def extract(self, run_id: int) -> list[dict[str, Any]]:
        sync.run_recover(self.context, run_id)  # the DAGs wait for both
        return sync.run_extract(self.context, run_id)

    def step(self, word: str, run_id: int, vendors: Iterable[str]) -> dict[str, Any]:
        return sync.run_step(self.context, word, run_id, vendors)

    def clear_the_way(self, vendors: tuple[str, ...]) -> list[str]:
        return asyncio.run(urgent.clear_the_way(self.context, vendors))

    def wait(self, run_id: int, vendors: Iterable[str]) -> dict[str, Any]:
        return asyncio.run(wait.until_ended(self.context, Kind.CATALOG, run_id, vendors))

    def in_flight(self, run_id: int) -> list[str]:
        return sync.in_flight(self.context, run_id)

    def left_to_send(self, run_id: int) -> list[str]:
        return sync.left_to_send(self.context, run_id)

    def report(self, run_id: int) -> dict[str, Any]:
        return run.report(self.context, run_id)

    def plan(self, run_id: int) -> dict[str, Any]:
        return plan.plan_of(self.context, run_id)

    def apply(self, document: dict[str, Any], run_id: int, progress: Callable[[str, int, int], None]) -> dict[str, Any]:
        read = json.loads(json.dumps(document, default=str))
        read.pop("checksum", None)
        return apply.apply(self.context, plan.Plan.model_validate(read), run_id, progress)

    def sync(self, run_id: int, *, dry_run: bool, progress: Callable[[str, int, int], None]) -> dict[str, Any]:
        return sync.sync(self.context, run_id, dry_run=dry_run, progress=progress)

    def plan_exports(self, key: str, vendors: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        return export.plan_exports(self.context, key, vendors)

    def export_step(self, word: str, key: str, vendors: Iterable[str]) -> dict[str, Any]:
        return sync.run_export_step(self.context, word, key, vendors)

    def wait_exports(self, key: str, vendors: Iterable[str]) -> dict[str, Any]:
        return asyncio.run(wait.until_ended(self.context, Kind.EXPORT, key, vendors))

    def report_exports(self, key: str) -> dict[str, Any]:
        return export.report_exports(self.context, key)

    def export(
        self, key: str, vendors: tuple[str, ...], *, progress: Callable[[str, int, int], None]
    ) -> dict[str, Any]:
        return sync.export_all(self.context, key, vendors, progress=progress)

    def write_duckdb(self, file: Path) -> dict[str, int]:
        counts.counts(self.context)
        return duckdb_file.write(self.context.engine, self.context.lake, file)

    def status(self) -> dict[str, Any]:
        return read_status(self.context)

    def pause(self, scope: str, vendor: str | None, *, why: str, who: str, anyway: bool = False) -> dict[str, Any]:
        return pause.pause(self.context, scope, vendor, why=why, who=who, anyway=anyway)

    def resume(self, scope: str, vendor: str | None, *, why: str, who: str) -> dict[str, Any]:
        return pause.resume(self.context, scope, vendor, why=why, who=who)

    def switches(self) -> dict[str, Any]:
        with self.context.engine.connect() as connection:
            return {"paused": kill_switch.lines(connection), "history": kill_switch.history(connection)}

    def paused(self) -> list[str]:
        found: list[str] = self.switches()["paused"]
        return found

    def restore(self, vendor: str, **order: Any) -> dict[str, Any]:
        return restore.restore(self.context, vendor, **order)

    def end_restoration(self, vendor: str, *, who: str) -> dict[str, Any]:
        return restore.end(self.context, vendor, who=who)

    def remove_expired(self, *, dry_run: bool = False) -> dict[str, Any]:
        return remove_expired(self.context, dry_run=dry_run)

    def explain(self, vendor: str, sku: str, **when: Any) -> Any:
        return explain(self.context, vendor, sku, **when)

    def rejections(self, vendor: str | None) -> dict[str, Any]:
        return rejected_skus.listed(self.context, vendor)

    def release_rejections(self, vendor: str, skus: list[str]) -> dict[str, Any]:
        return rejected_skus.release(self.context, vendor, skus)

    def runs(self, **which: Any) -> list[dict[str, Any]]:
        return run_history.listed(self.context, **which)

    def run(self, run_id: int) -> dict[str, Any]:
        return run_history.shown(self.context, run_id)

    def recover(self) -> dict[str, Any]:
        return recover.recover(self.context)


@dataclass(frozen=True)
class HoldCalls:
    """What pages, the command line and Airflow's tasks do with a hold."""

    context: Context

    def listed(self, *states: str) -> list[dict[str, Any]]:
        return lists.listed(self.context, states=states)

    def show(self, hold_id: int, **which: Any) -> dict[str, Any]:
        return lists.shown(self.context, hold_id, **which)

    def ask(self, key: str) -> list[dict[str, Any]]:
        return lists.ask(self.context, key)

    def question(self, hold_id: int, *, pages: str | None) -> dict[str, Any] | None:
        return question(self.context, hold_id, pages=pages)

    def backtest(self, vendors: tuple[str, ...] = (), **span: Any) -> dict[str, Any]:
        return backtest.backtest(self.context, names=vendors, **span)

    def decide(self, hold_id: int, *, approve: bool, who: str, **given: Any) -> dict[str, Any]:
        return decide.decide(self.context, hold_id, approve=approve, who=who, place=Place.COMMAND, **given)

    def reopen(self, hold_id: int, *, who: str, why: str | None) -> dict[str, Any]:
        return decide.reopen(self.context, hold_id, who=who, place=Place.COMMAND, why=why)

    def asked(self, hold_ids: list[int], thresholds: dict[str, Any] | None = None) -> dict[str, Any]:
        return lists.asked(self.context, hold_ids, thresholds)

    def over(self, hold_id: int) -> None:
        """The time of this hold is over, and nothing has visited it since."""
        with self.context.engine.begin() as connection:
            late = hold.update().where(hold.c.hold_id == hold_id)
            connection.execute(late.values(expires_at=instant()))

    def expire(self, hold_id: int) -> None:
        """Its time is over, and the next visit of shelfsync expires it."""
        self.over(hold_id)
        with self.context.engine.begin() as connection:
            assert hold_expiry.expire(connection, hold_id=hold_id) == [hold_id]

    def reconsider(
        self, hold_id: int, thresholds: dict[str, Any], *, who: str, why: str | None = None
    ) -> dict[str, Any]:
        return other_thresholds.reconsider(self.context, hold_id, thresholds, who=who, place=Place.COMMAND, why=why)

    def release(self, hold_id: int) -> dict[str, Any]:
        return decide.release(self.context, hold_id)

    def deliver(self, hold_id: int) -> dict[str, Any]:
        sent = decide.send(self.context, [hold_id])
        return {**sent["released"][0], "lines": sent["lines"]}
