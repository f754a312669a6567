"""Whether the platform's order became what the store said. It may take a request and not do all of it (interface.md 4.8.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.orders import cart
from shelfsync.orders.pieces.picked import name
from shelfsync.orders.rules import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partner_api.models.order import OrderItem
    from shelfsync.orders.result import Line, PickingResult
    from shelfsync.orders.state import OrderState

RULE = "not_reflected"
_BECOMES = {"picked": "IN_CART", "not_found": "NOT_FOUND", "replaced": "REPLACED"}


def differences(before: OrderState, result: PickingResult, after: Sequence[OrderItem]) -> tuple[Problem, ...]:
    """What of a fulfilment the items do not show; empty: they show all of it. Items without an `_id` cannot be told apart, and count as right."""
    if result.action not in {"fulfil", "check"}:
        return ()
    of_id = {item.item_id: item for item in after if item.item_id}
    found: list[str] = []
    for line, item in cart.matched(before, result).pairs:
        ended = of_id.get(item.item_id or "")
        if ended is not None:
            found += _line(line, item, ended, after)
    added = [item.sku for item in after if item.status == "ADDITION"]
    for line in result.lines:
        if line.status == "added" and line.goods.sku in added:
            added.remove(line.goods.sku)
        elif line.status == "added":
            found.append(f"{line.goods.sku} was added, and the platform has not taken it into the order.")
    return tuple(Problem(RULE, message) for message in found)


def tells(after: Sequence[OrderItem]) -> bool:
    """Whether the items show a change at all: feedback that repeats the order as it was says nothing."""
    return any(item.status not in {None, "NOT_PROCESSED"} for item in after)


def _line(line: Line, item: OrderItem, ended: OrderItem, after: Sequence[OrderItem]) -> Iterator[str]:
    goods = line.goods
    if line.status == "replaced" and not any(other.replaced_id == item.item_id for other in after):
        by = line.replaced_by[0].sku if line.replaced_by else "nothing"
        yield f"{name(item)} was to be replaced by {by}, and the platform has not done it: it may be dearer there by now. The customer is not told of it."
    elif ended.status != _BECOMES[line.status]:
        said = (ended.status or "nothing").lower().replace("_", " ")
        yield f"{name(item)} is {said} on the platform, and the store said {line.status}."
    elif (
        line.status == "picked" and goods.quantity is not None and ended.pricing.quantity not in {None, goods.quantity}
    ):
        yield f"{name(item)}: {ended.pricing.quantity} pieces stand on the platform, and {goods.quantity} were picked."
    elif line.status == "picked" and goods.weight is not None and ended.pricing.weight not in {None, goods.weight}:
        yield f"{name(item)}: {ended.pricing.weight} kg stand on the platform, and {goods.weight} kg were picked."
