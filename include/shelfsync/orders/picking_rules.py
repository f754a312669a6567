"""Checks a result against every rule of interface.md 4.8 before it is sent. The messages are for the store's staff.

It reports all problems at once. The platform accepts the request of a result without a problem. A result with a problem is
never sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.orders import cart, picking_line_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shelfsync.orders.cart import Matched, Product
    from shelfsync.orders.order_state import OrderState
    from shelfsync.orders.picking_result import PickingResult


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule. `rule`: a stable keyword (docs/how-to/orders.md lists them all); `message`: for the person who picked."""

    rule: str
    message: str


def problems(order: OrderState, result: PickingResult, products: Mapping[str, Product]) -> tuple[Problem, ...]:
    """The rules that this result breaks; empty: none. `products`: the catalog entries of the SKUs that are new to the order."""
    steps = {"accept": _accept, "fulfil": _fulfil, "check": _fulfil, "cancel": _cancel}
    return tuple(Problem(rule, message) for rule, message in steps[result.action](order, result, products))


def _accept(order: OrderState, result: PickingResult, _products: Mapping[str, Product]) -> Iterator[tuple[str, str]]:
    if order.transport_type != "VENDOR_DELIVERY":
        yield (
            "accept_vendor_delivery",
            "Only an order that the store delivers itself is accepted; this one is fulfilled without it.",
        )
    if result.accepted_for is None:
        yield "accepted_for", "accepted_for is missing: send the time at which the customer will have the order."
    if order.status != "RECEIVED":
        yield "state", f"The order is {_status_name(order.status)}: only a new order can be accepted."
    if result.lines or result.confirmed_amount is not None:
        yield (
            "accept_alone",
            "An acceptance carries neither items nor an amount: send what was picked when the order is fulfilled.",
        )


def _cancel(order: OrderState, result: PickingResult, _products: Mapping[str, Product]) -> Iterator[tuple[str, str]]:
    if not order.is_open:
        yield "state", f"The order is {_status_name(order.status)}: it can no longer be cancelled."
    if result.reason is None:
        yield "cancel_reason", "The reason is missing: CLOSED, ITEM_UNAVAILABLE or TOO_BUSY."
    if not order.items or any(item.sku is None for item in order.items):
        yield "items", "The platform has not sent the items of the order, so it cannot be cancelled from here."


def _fulfil(order: OrderState, result: PickingResult, products: Mapping[str, Product]) -> Iterator[tuple[str, str]]:
    if not order.is_open:
        yield "state", f"The order is {_status_name(order.status)}: nothing in it can be changed any more."
    if order.transport_type not in {"LOGISTICS_DELIVERY", "VENDOR_DELIVERY"} and order.order_type != "PICKUP":
        yield (
            "transport_type",
            "The platform has not reported who delivers the order, so the status that fulfils it is unknown.",
        )
    if result.accepted_for is not None or result.reason is not None:
        yield "fields", "accepted_for belongs to an acceptance and reason to a cancellation: leave them out."
    parts = cart.matched(order, result)
    yield from _lines(order, parts, products)
    if not any(line.status != "not_found" for line in result.lines):
        yield (
            "nothing_picked",
            "Nothing of the order was found. An empty order is not delivered: cancel it, with the reason, if that is meant.",
        )
    yield from _amount(order, result, parts, products)


def _lines(order: OrderState, parts: Matched, products: Mapping[str, Product]) -> Iterator[tuple[str, str]]:
    for line, why in parts.unmatched:
        yield ("sku" if line.goods.sku is None else "item"), f"A line that is {line.status} {why}."
    for item in parts.missing:
        yield "undecided", f"{picking_line_rules.name(item)}: it has no line. Send picked, not_found or replaced."
    for line, item in parts.pairs:
        if line.replaced_by and line.status != "replaced":
            why = f"{picking_line_rules.name(item)} is {line.status} and has a replacement: it is replaced, or it has none."
            yield "replacement", why
        if line.status == "picked":
            yield from picking_line_rules.picked_problems(item, line.goods)
        elif line.status == "replaced":
            yield from picking_line_rules.replacement_problems(order, item, line, products)
    for line in parts.added:
        yield from picking_line_rules.addition_problems(order, line, products)


def _amount(
    order: OrderState, result: PickingResult, parts: Matched, products: Mapping[str, Product]
) -> Iterator[tuple[str, str]]:
    confirmed = result.confirmed_amount
    if confirmed is None:
        return
    total = cart.total(order, parts, products)
    if total is None:
        yield (
            "confirmed_amount",
            "confirmed_amount cannot be compared with the total, because a price is not known: leave it out.",
        )
    elif abs(confirmed - total) * 10 > total:
        yield (
            "confirmed_amount",
            f"confirmed_amount {confirmed} is more than 10 % away from {total}, the sum of items and fees.",
        )


def _status_name(status: str) -> str:
    return status.lower().replace("_", " ") or "in a state that the platform did not name"
