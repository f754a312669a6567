"""Compares the platform's order with the store's result: the platform may apply only part of a request (interface.md 4.8.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.orders import cart
from shelfsync.orders.line_rules.picked import name
from shelfsync.orders.rules import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partner_api.order import OrderItem
    from shelfsync.orders.order_state import OrderState
    from shelfsync.orders.picking_result import Line, PickingResult

RULE = "not_reflected"
_BECOMES = {"picked": "IN_CART", "not_found": "NOT_FOUND", "replaced": "REPLACED"}


def differences(before: OrderState, result: PickingResult, after: Sequence[OrderItem]) -> tuple[Problem, ...]:
    """The parts of a fulfilment that the items do not show; empty: none. An item without an `_id` counts as equal."""
    if result.action not in {"fulfil", "check"}:
        return ()
    of_id = {item.item_id: item for item in after if item.item_id}
    messages: list[str] = []
    for line, item in cart.matched(before, result).pairs:
        ended = of_id.get(item.item_id or "")
        if ended is not None:
            messages += _line(line, item, ended, after)
    added = [item.sku for item in after if item.status == "ADDITION"]
    for line in result.lines:
        if line.status == "added" and line.goods.sku in added:
            added.remove(line.goods.sku)
        elif line.status == "added":
            messages.append(f"{line.goods.sku} was added, and the platform has not put it into the order.")
    return tuple(Problem(RULE, message) for message in messages)


def shows_change(after: Sequence[OrderItem]) -> bool:
    """Whether the items show any change. Feedback that repeats the order as it was has no information."""
    return any(item.status not in {None, "NOT_PROCESSED"} for item in after)


def _line(line: Line, item: OrderItem, ended: OrderItem, after: Sequence[OrderItem]) -> Iterator[str]:
    goods = line.goods
    if line.status == "replaced" and not any(other.replaced_id == item.item_id for other in after):
        by = line.replaced_by[0].sku if line.replaced_by else "nothing"
        yield f"{name(item)} was to be replaced by {by}, and the platform has not done it: it may be more expensive there now. The customer does not see it."
    elif ended.status != _BECOMES[line.status]:
        status = (ended.status or "nothing").lower().replace("_", " ")
        yield f"{name(item)} is {status} on the platform, and the store reported {line.status}."
    elif (
        line.status == "picked" and goods.quantity is not None and ended.pricing.quantity not in {None, goods.quantity}
    ):
        yield f"{name(item)}: {ended.pricing.quantity} pieces are in the platform's order, and {goods.quantity} were picked."
    elif line.status == "picked" and goods.weight is not None and ended.pricing.weight not in {None, goods.weight}:
        yield f"{name(item)}: {ended.pricing.weight} kg are in the platform's order, and {goods.weight} kg were picked."
