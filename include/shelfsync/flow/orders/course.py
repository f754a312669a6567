"""The course of one picking result: waiting, (checked by UPDATE_CART,) sending, answered, done; or refused, or overtaken."""

from __future__ import annotations

import dataclasses
import logging
from typing import TYPE_CHECKING, Any

from partner_api.errors import InvalidRequestError, NotFoundError
from shelfsync.flow.orders.apply import apply, current
from shelfsync.flow.orders.products import products
from shelfsync.flow.orders.read_back import read_back
from shelfsync.ledger import orders, picking
from shelfsync.orders.cart import new_skus
from shelfsync.orders.reflected import differences, tells
from shelfsync.orders.request import request
from shelfsync.orders.rules import Problem, problems
from shelfsync.orders.state import FULFILLED

if TYPE_CHECKING:
    from partner_api.models.order import Order
    from shelfsync.flow.house import Parts
    from shelfsync.ledger.leases import Lease
    from shelfsync.ledger.picking import Result
    from shelfsync.orders.cart import Product
    from shelfsync.orders.result import PickingResult
    from shelfsync.orders.state import OrderState

log = logging.getLogger(__name__)

WANTED = {
    "accept": frozenset({"ACCEPTED", *FULFILLED}),
    "fulfil": FULFILLED,
    "cancel": frozenset({"CANCELLED"}),
    "check": frozenset[str](),
}
"""Action -> the states that an order is in when it was done."""
GIVE_UP_LOOKS = 20
"""So often, at growing distances, more than an hour together, the platform may say that it does not know an order of which it told us."""
_UNKNOWN = Problem("unknown_order", "The platform does not know this order: check the order_id.")
_NOT_YOURS = Problem("store", "This order belongs to another store.")
_GONE = Problem("overtaken", "The order was cancelled meanwhile, and not by this store: put the goods back.")


class Course:
    """One look at one result under the lease of its order. `run` returns its state then; PartnerError: try again later."""

    def __init__(self, parts: Parts, one: Result, result: PickingResult, lease: Lease) -> None:
        self._parts = parts
        self._one = one
        self._result = result
        self._lease = lease

    def run(self) -> str:
        """As far as it goes now."""
        steps = {"answered": self._confirm, "sending": self._again}
        try:
            return steps.get(self._one.state, self._begin)()
        except NotFoundError:
            if self._one.looks < GIVE_UP_LOOKS:
                raise
            return self._refuse(_UNKNOWN)

    def _begin(self) -> str:
        """Nothing has left yet."""
        with self._parts.engine.connect() as connection:
            order = current(connection, self._one.order_id)
        if order is None:
            try:
                order = read_back(self._parts, self._one.order_id)  # its event may be late, or lost
            except NotFoundError:
                return self._refuse(_UNKNOWN)
        if self._one.vendor is not None:
            if order.vendor is None:
                order = read_back(self._parts, self._one.order_id)
            if order.vendor != self._one.vendor:
                return self._refuse(_NOT_YOURS)
        if order.status == "CANCELLED" and self._result.action != "cancel":
            return self._end("overtaken", _GONE)
        return self._send(order)

    def _again(self) -> str:
        """It may have arrived: the platform is asked before anything is sent a second time."""
        order = read_back(self._parts, self._one.order_id)
        return self._judged(order) or self._send(order)

    def _confirm(self) -> str:
        """The answer said yes: an event, or the order itself, has to say so too."""
        with self._parts.engine.connect() as connection:
            since = self._one.base_updated_at
            if orders.confirmed(connection, self._one.order_id, WANTED[self._one.action], since):
                return self._done(current(connection, self._one.order_id))
        order = read_back(self._parts, self._one.order_id)
        if ended := self._judged(order):
            return ended
        log.warning("fulfil: order %s: the answer said yes, and it is %s: sent again", order.order_id, order.status)
        return self._send(order)

    def _judged(self, order: OrderState) -> str | None:
        """Its end, when the order has come to one."""
        if order.status in WANTED[self._one.action]:
            return self._done(order)
        return self._end("overtaken", _GONE) if order.status == "CANCELLED" else None

    def _send(self, order: OrderState) -> str:
        known = self._products(order)
        broken = problems(order, self._result, known)
        if broken:
            return self._refuse(*broken)
        if self._asks_first() and (refused := self._ask(order, known)):
            return refused
        if self._one.action == "check":
            return self._end("checked")
        update = request(order, self._result, known)
        with self._parts.engine.begin() as connection:
            picking.sending(connection, self._lease, self._one.result_no, base_updated_at=order.updated_at)
        try:
            answer = self._parts.open_platform().put_order(update)
        except (InvalidRequestError, NotFoundError) as error:
            return self._judged(read_back(self._parts, self._one.order_id)) or self._refuse(_refusal(error))
        return self._heard(order, answer)

    def _heard(self, before: OrderState, answer: Order) -> str:
        """The answer counts when it tells of another version than the one that was known: an order that did not move was not moved."""
        moved = answer.updated_at is not None and (before.updated_at is None or answer.updated_at > before.updated_at)
        settings = self._parts.settings.orders
        with self._parts.engine.begin() as connection:
            if moved and answer.status in WANTED[self._one.action]:
                apply(self._parts, connection, {**answer.raw, "order_id": self._one.order_id}, "answer")
            pause_s = settings.confirm_s if moved else settings.retry_first_s
            picking.answered(connection, self._lease, self._one.result_no, confirm_after_s=pause_s)
        return "answered"

    def _products(self, order: OrderState) -> dict[str, Product]:
        skus = new_skus(self._result) if self._result.action in {"fulfil", "check"} else frozenset[str]()
        return products(self._parts, order.vendor or "", skus) if skus else {}

    def _asks_first(self) -> bool:
        if self._one.action == "check":
            return True
        wished = self._result.check_first
        asks = self._parts.settings.orders.check_first if wished is None else wished
        return asks and self._one.action == "fulfil" and self._one.feedback is None

    def _ask(self, order: OrderState, known: dict[str, Product]) -> str | None:
        """UPDATE_CART: changes nothing; its feedback is kept, a refusal is the end."""
        update = request(order, self._result, known, only_check=True)
        try:
            answer = self._parts.open_platform().put_order(update)
        except (InvalidRequestError, NotFoundError) as error:
            return self._judged(read_back(self._parts, self._one.order_id)) or self._refuse(_refusal(error))
        with self._parts.engine.begin() as connection:
            picking.fed_back(connection, self._lease, self._one.result_no, _feedback(answer))
        lacks = differences(order, self._result, answer.items) if tells(answer.items) else ()
        return self._refuse(*lacks) if lacks else None

    def _done(self, now: OrderState | None) -> str:
        """Done, and said what of it the platform does not show."""
        if now is None or self._one.action != "fulfil":
            return self._end("done")
        as_ordered = dataclasses.replace(now, items=now.ordered)
        return self._end("done", *differences(as_ordered, self._result, now.items))

    def _refuse(self, *broken: Problem) -> str:
        return self._end("refused", *broken)

    def _end(self, state: str, *told: Problem) -> str:
        with self._parts.engine.begin() as connection:
            rows = [{"rule": one.rule, "message": one.message} for one in told]
            picking.settled(connection, self._lease, self._one.result_no, state, rows)
        return state


def _refusal(error: InvalidRequestError | NotFoundError) -> Problem:
    """The platform's own words are about the request alone; answers about orders are never quoted, they may tell of people."""
    code = f" ({error.code})" if error.code else ""
    return Problem("platform", f"The platform refuses it{code}: {error.message}. Nothing has changed about the order.")


def _feedback(answer: Order) -> dict[str, Any]:
    """Items as they would be; the totals are those of before (interface.md 4.8.9)."""
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
