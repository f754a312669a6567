"""Short names for the calls of promotions, orders and the inbox (see `app_calls`)."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shelfsync.decisions.state import Place
from shelfsync.decisions.steps import decide
from shelfsync.decisions.steps import lists as hold_lists
from shelfsync.errors import DataError
from shelfsync.orders.steps import collect, forget, fulfil, hand_over, history, lists, receive, take_events, watch
from shelfsync.orders.steps.find_order import find_order
from shelfsync.platform.jobs.table import Kind
from shelfsync.platform.jobs.wait import until_ended
from shelfsync.promotions.steps import confirm as promotions_confirm
from shelfsync.promotions.steps import deliver as promotions_deliver
from shelfsync.promotions.steps import extract as promotions_extract
from shelfsync.promotions.steps import plan as promotions_plan
from shelfsync.promotions.steps import recover as promotions_recover
from shelfsync.promotions.steps import report as promotions_report
from shelfsync.promotions.steps import status as promotions_status
from shelfsync.promotions.steps import sync as promotions_sync
from shelfsync.receiver import operator_actions, secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shelfsync.context import Context


@dataclass(frozen=True)
class PromotionCalls:
    """The steps of the promotions' path."""

    context: Context

    def open_run(self, key: str, *, dry_run: bool = False) -> int:
        return promotions_extract.open_run(self.context, key, dry_run=dry_run)

    def extract(self, run_id: int) -> dict[str, Any]:
        return promotions_extract.extract(self.context, run_id)

    def plan(self, run_id: int) -> dict[str, Any]:
        return promotions_plan.plan(self.context, run_id)

    def deliver(self) -> dict[str, Any]:
        return promotions_deliver.deliver(self.context).as_dict()

    def wait(self, run_id: int) -> dict[str, Any]:
        return asyncio.run(until_ended(self.context, Kind.PROMOTION, run_id))

    def confirm(self) -> dict[str, Any]:
        return promotions_confirm.confirm(self.context).as_dict()

    def report(self, run_id: int) -> dict[str, Any]:
        return promotions_report.report(self.context, run_id)

    def recover(self) -> dict[str, Any]:
        return promotions_recover.recover(self.context)

    def status(self, **chosen: Any) -> dict[str, Any]:
        return promotions_status.status(self.context, **chosen)

    def one(self, promotion_id: int, **which: Any) -> dict[str, Any]:
        return promotions_status.one(self.context, promotion_id, **which)

    def decide_hold(self, hold_id: int, *, approve: bool, by: str) -> int:
        return int(decide.decide(self.context, hold_id, approve=approve, who=by, place=Place.COMMAND)["decided"])

    def decide(self, campaign: str | None, *, rule: str | None, approve: bool, by: str) -> int:
        """How many holds it decided; 0 if the holds are decided already, or none is held."""
        with contextlib.suppress(DataError):
            numbers = hold_lists.open_of(self.context, rule=rule, campaign=campaign)
            return sum(self.decide_hold(number, approve=approve, by=by) for number in numbers)
        return 0

    def reopen(self, campaign: str, *, by: str, why: str) -> int:
        """How many decided holds of a campaign it opened again."""
        found = [row["hold_id"] for row in hold_lists.in_force(self.context) if row["campaign"] == campaign]
        done = [decide.reopen(self.context, number, who=by, place=Place.COMMAND, why=why) for number in found]
        return sum(one["decided"] for one in done)

    def decide_rule(self, rule: str, *, approve: bool, by: str) -> int:
        return self.decide(None, rule=rule, approve=approve, by=by)

    def sync(self, run_id: int) -> dict[str, Any]:
        return promotions_sync.sync(self.context, run_id)


@dataclass(frozen=True)
class OrderCalls:
    """The steps of orders. Each may run at any time, repeatedly."""

    context: Context

    def take(self) -> dict[str, int]:
        return take_events.take(self.context)

    def hand_over(self) -> dict[str, Any]:
        return hand_over.hand_over(self.context)

    def collect(self) -> dict[str, Any]:
        return collect.collect(self.context)

    def fulfil(self, order_ids: Iterable[str] = ()) -> dict[str, Any]:
        return fulfil.fulfil(self.context, order_ids)

    def retry(self, order_id: str) -> int:
        return fulfil.retry(self.context, order_id)

    def history(self, vendors: Iterable[str] = ()) -> dict[str, Any]:
        return history.history(self.context, vendors)

    def watch_stores(self) -> list[str]:
        return watch.watch_stores(self.context)

    def watch_history(self) -> list[str]:
        return watch.watch_history(self.context)

    def report(self, order_id: str, raw: dict[str, Any]) -> str:
        return receive.keep(self.context.engine, order_id, raw, "cli")

    def orders(self, **which: Any) -> list[dict[str, Any]]:
        return lists.orders(self.context, **which)

    def order(self, order_id: str) -> dict[str, Any] | None:
        return find_order(self.context, order_id)

    def results(self, order_id: str) -> list[dict[str, Any]]:
        return lists.results(self.context, order_id)

    def today(self) -> dict[str, Any]:
        return lists.today(self.context)

    def orders_of(self, text: str) -> list[str]:
        return forget.orders_of(self.context, text)

    def forget(self, order_ids: Sequence[str]) -> dict[str, Any]:
        return forget.forget(self.context, order_ids)

    def secret(self, vendor: str) -> str:
        return secret.store_secret(self.context.settings.orders, vendor)


@dataclass(frozen=True)
class InboxCalls:
    """The functions behind `shelfsync inbox`."""

    context: Context

    def listed(self, **which: Any) -> list[dict[str, Any]]:
        return operator_actions.listed(self.context.engine, **which)

    def replay(self, event_ids: Sequence[int]) -> list[dict[str, Any]]:
        return operator_actions.replay(self.context.engine, event_ids)
