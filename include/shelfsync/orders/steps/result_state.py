"""The state machine of one picking result: waiting, (checked by UPDATE_CART,) sending, answered, done; or rejected, overtaken."""

from __future__ import annotations

import dataclasses
import logging
from typing import TYPE_CHECKING, Any

from partner_api.errors import InvalidRequestError, NotFoundError
from shelfsync.orders.cart import Product, new_skus
from shelfsync.orders.ledger import orders, picking
from shelfsync.orders.order_state import FULFILLED
from shelfsync.orders.picking_rules import Problem, problems
from shelfsync.orders.request import differences, request, shows_change
from shelfsync.orders.steps.apply import apply, current
from shelfsync.orders.steps.read_back import read_back
from shelfsync.orders.steps.store_catalog import products

if TYPE_CHECKING:
    from partner_api.order import Order
    from partner_api.order_update import OrderUpdate
    from shelfsync.context import Context
    from shelfsync.orders.ledger.picking import Result
    from shelfsync.orders.order_state import OrderState
    from shelfsync.orders.picking_result import PickingResult
    from shelfsync.vendors.lease import Lease

log = logging.getLogger(__name__)

WANTED = {
    "accept": frozenset({"ACCEPTED", *FULFILLED}),
    "fulfil": FULFILLED,
    "cancel": frozenset({"CANCELLED"}),
    "check": frozenset[str](),
}
"""Action -> the statuses of an order after it."""
UNKNOWN_ORDER_TRIES = 20
"""Attempts while the platform reports a sent order as unknown; with growing pauses they take more than an hour."""
_UNKNOWN = Problem("unknown_order", "The platform does not know this order: check the order_id.")
_NOT_YOURS = Problem("store", "This order belongs to another store.")
_GONE = Problem("overtaken", "The order was cancelled meanwhile, and not by this store: put the goods back.")


class ResultStateMachine:
    """One attempt at one result, under the lease of its order. PartnerError: try again later."""

    def __init__(self, context: Context, pending: Result, result: PickingResult, lease: Lease) -> None:
        self._context = context
        self._pending = pending
        self._result = result
        self._lease = lease

    def run(self) -> str:
        """Advances the result as far as possible; returns its state."""
        steps = {"answered": self._confirm, "sending": self._resume}
        try:
            return steps.get(self._pending.state, self._begin)()
        except NotFoundError:
            if self._pending.postponements < UNKNOWN_ORDER_TRIES:
                raise
            return self._reject(_UNKNOWN)

    def _begin(self) -> str:
        """Nothing is sent yet."""
        with self._context.engine.connect() as connection:
            order = current(connection, self._pending.order_id)
        if order is None:
            try:
                order = read_back(self._context, self._pending.order_id)  # its event may be late or lost
            except NotFoundError:
                return self._reject(_UNKNOWN)
        if self._pending.vendor is not None:
            if order.vendor is None:
                order = read_back(self._context, self._pending.order_id)
            if order.vendor != self._pending.vendor:
                return self._reject(_NOT_YOURS)
        if order.status == "CANCELLED" and self._result.action != "cancel":
            return self._end("overtaken", _GONE)
        return self._send(order)

    def _resume(self) -> str:
        """The request may have arrived: the order is read back before it is sent again."""
        order = read_back(self._context, self._pending.order_id)
        return self._end_by_order(order) or self._send(order)

    def _confirm(self) -> str:
        """The platform accepted the request: an event or a read-back has to confirm it."""
        with self._context.engine.connect() as connection:
            since = self._pending.base_updated_at
            if orders.confirmed(connection, self._pending.order_id, WANTED[self._pending.action], since):
                return self._done(current(connection, self._pending.order_id))
        order = read_back(self._context, self._pending.order_id)
        if ended := self._end_by_order(order):
            return ended
        log.warning(
            "fulfil: order %s: the platform accepted the result, but it is %s: sent again", order.order_id, order.status
        )
        return self._send(order)

    def _end_by_order(self, order: OrderState) -> str | None:
        """Ends the result if the order's status allows it; otherwise None."""
        if order.status in WANTED[self._pending.action]:
            return self._done(order)
        return self._end("overtaken", _GONE) if order.status == "CANCELLED" else None

    def _send(self, order: OrderState) -> str:
        known = self._products(order)
        broken = problems(order, self._result, known)
        if broken:
            return self._reject(*broken)
        if self._asks_first() and (ended := self._ask(order, known)):
            return ended
        if self._pending.action == "check":
            return self._end("checked")
        update = request(order, self._result, known)
        with self._context.engine.begin() as connection:
            picking.mark_sending(connection, self._lease, self._pending.result_no, base_updated_at=order.updated_at)
        answer = self._put(update)
        if isinstance(answer, str):
            return answer
        return self._received(order, answer)

    def _put(self, update: OrderUpdate) -> Order | str:
        """The platform's answer. If the platform rejects the request, the result ends: its state."""
        try:
            return self._context.open_platform().put_order(update)
        except (InvalidRequestError, NotFoundError) as error:
            ended = self._end_by_order(read_back(self._context, self._pending.order_id))
            return ended or self._reject(_rejection(error))

    def _received(self, before: OrderState, answer: Order) -> str:
        """The answer counts only if it has another version than the known one: an unchanged order was not updated."""
        moved = answer.updated_at is not None and (before.updated_at is None or answer.updated_at > before.updated_at)
        settings = self._context.settings.orders
        with self._context.engine.begin() as connection:
            if moved and answer.status in WANTED[self._pending.action]:
                apply(self._context, connection, {**answer.raw, "order_id": self._pending.order_id}, "answer")
            pause_s = settings.confirm_s if moved else settings.retry_first_s
            picking.mark_answered(connection, self._lease, self._pending.result_no, confirm_after_s=pause_s)
        return "answered"

    def _products(self, order: OrderState) -> dict[str, Product]:
        skus = new_skus(self._result) if self._result.action in {"fulfil", "check"} else frozenset[str]()
        return products(self._context, order.vendor or "", skus) if skus else {}

    def _asks_first(self) -> bool:
        if self._pending.action == "check":
            return True
        wished = self._result.check_first
        asks = self._context.settings.orders.check_first if wished is None else wished
        return asks and self._pending.action == "fulfil" and self._pending.feedback is None

    def _ask(self, order: OrderState, known: dict[str, Product]) -> str | None:
        """Sends UPDATE_CART, which changes nothing, and stores its feedback. A rejection ends the result."""
        update = request(order, self._result, known, only_check=True)
        answer = self._put(update)
        if isinstance(answer, str):
            return answer
        with self._context.engine.begin() as connection:
            picking.store_feedback(connection, self._lease, self._pending.result_no, _feedback(answer))
        lacks = differences(order, self._result, answer.items) if shows_change(answer.items) else ()
        return self._reject(*lacks) if lacks else None

    def _done(self, now: OrderState | None) -> str:
        """Ends the result as done, with messages about what the platform does not show."""
        if now is None or self._pending.action != "fulfil":
            return self._end("done")
        as_ordered = dataclasses.replace(now, items=now.ordered)
        return self._end("done", *differences(as_ordered, self._result, now.items))

    def _reject(self, *broken: Problem) -> str:
        return self._end("rejected", *broken)

    def _end(self, state: str, *messages: Problem) -> str:
        with self._context.engine.begin() as connection:
            rows = [{"rule": problem.rule, "message": problem.message} for problem in messages]
            picking.finish(connection, self._lease, self._pending.result_no, state, rows)
        return state


def _rejection(error: InvalidRequestError | NotFoundError) -> Problem:
    """The platform's error message is about the request. Answers with an order are never quoted: they may hold personal data."""
    code = f" ({error.code})" if error.code else ""
    return Problem("platform", f"The platform rejected it{code}: {error.message}. The order has not changed.")


def _feedback(answer: Order) -> dict[str, Any]:
    """The items as they would be. The totals are those before the change (interface.md 4.8.9)."""
    return {
        "sub_total": _text(answer.sub_total),
        "order_total": _text(answer.order_total),
        "items": [
            {
                "item_id": item.item_id,
                "sku": item.sku,
                "status": item.status,
                "quantity": _text(item.pricing.quantity),
                "weight": _text(item.pricing.weight),
                "unit_price": _text(item.pricing.unit_price),
                "total_price": _text(item.pricing.total_price),
            }
            for item in answer.items
        ],
    }


def _text(number: Any) -> str | None:
    return None if number is None else format(number, "f")
