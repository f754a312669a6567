"""The cases that take every row of section 3.1 and every rule of 4.8 through DAG, client and sandbox; `ROWS` names which case proves which rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from orders_world import added, not_found, picked, replaced

VENDOR = {"transport_type": "VENDOR_DELIVERY"}
PICKUP = {"order_type": "PICKUP"}
LATER = {"accepted_for": "2030-01-01T12:00:00Z"}


@dataclass(frozen=True)
class Case:
    """A basket, what the store reports, and the end: the rule that rejects the result, or the platform's status."""

    name: str
    basket: tuple[Any, ...]
    lines: tuple[dict[str, Any], ...]
    ends: str
    rule: str | None = None
    action: str = "fulfil"
    options: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)


def fulfilled(
    name: str, basket: tuple[Any, ...], *lines: dict[str, Any], ends: str = "READY_FOR_PICKUP", **more: Any
) -> Case:
    return Case(name, basket, lines, ends, **more)


def rejected(name: str, rule: str, basket: tuple[Any, ...], *lines: dict[str, Any], **more: Any) -> Case:
    return Case(name, basket, lines, "RECEIVED", rule, **more)


TWO = {"sku": "MILK", "quantity": 2}
CASES = [
    # 3.1, row by row
    fulfilled("platform delivery is ready", ("MILK",), picked("MILK")),
    fulfilled("collected in store is ready", ("MILK",), picked("MILK"), options=PICKUP),
    fulfilled("collected from a delivering store is ready", ("MILK",), picked("MILK"), options={**VENDOR, **PICKUP}),
    fulfilled("vendor delivery is dispatched", ("MILK",), picked("MILK"), ends="DISPATCHED", options=VENDOR),
    Case("vendor delivery is accepted", ("MILK",), (), "ACCEPTED", action="accept", options=VENDOR, more=LATER),
    Case("a check changes nothing", (TWO,), (picked("MILK", quantity=1),), "RECEIVED", action="check"),
    Case("a store cancels", ("MILK",), (), "cancelled", action="cancel", more={"reason": "CLOSED"}),
    rejected("an item by its _id alone", "sku", ("MILK",), {"status": "picked", "item_id": "@MILK"}),
    # 4.8.1
    rejected("platform delivery is not accepted", "accept_vendor_delivery", ("MILK",), action="accept", more=LATER),
    rejected("an acceptance without its time", "accepted_for", ("MILK",), action="accept", options=VENDOR),
    # 4.8.3
    fulfilled("what is not found is left out", ("MILK", "JAM"), picked("MILK"), not_found("JAM")),
    rejected("an item without a line", "undecided", ("MILK", "JAM"), picked("MILK")),
    rejected("nothing was found", "nothing_picked", ("MILK",), not_found("MILK")),
    # 4.8.4
    fulfilled("fewer pieces", (TWO,), picked("MILK", quantity=1)),
    fulfilled("more pieces", (TWO,), picked("MILK", quantity=4)),
    rejected("too many pieces", "quantity", (TWO,), picked("MILK", quantity=5)),
    rejected("half a piece", "whole_pieces", (TWO,), picked("MILK", quantity="1.5")),
    fulfilled("a lower price", (TWO,), picked("MILK", unit_price="1.25")),
    rejected("a higher price", "unit_price", (TWO,), picked("MILK", unit_price="1.51")),
    fulfilled("a higher total", (TWO,), picked("MILK", total_price="3.5")),
    rejected("both prices", "both_prices", (TWO,), picked("MILK", unit_price="1.25", total_price="2")),
    rejected("a weight of pieces", "weight_of_pieces", (TWO,), picked("MILK", weight="0.5")),
    # 4.8.5
    fulfilled("another weight", ("CHEESE",), picked("CHEESE", weight="1.234")),
    rejected("too heavy", "weight", ("CHEESE",), picked("CHEESE", weight="1.501")),
    rejected("pieces of what is weighed", "quantity_of_weighed", ("CHEESE",), picked("CHEESE", quantity=2)),
    rejected("a price of what is weighed", "price_of_weighed", ("CHEESE",), picked("CHEESE", unit_price="11")),
    # 4.8.6
    fulfilled("a confirmed amount within a tenth", (TWO,), picked("MILK"), more={"confirmed_amount": "5.9"}),
    rejected(
        "a confirmed amount beyond a tenth", "confirmed_amount", (TWO,), picked("MILK"), more={"confirmed_amount": "7"}
    ),
    # 4.8.7
    fulfilled("a cheaper replacement", ("JAM",), replaced("JAM", "BREAD")),
    fulfilled("an inactive replacement", ("JAM",), replaced("JAM", "OLD")),
    fulfilled("weighed for weighed", ("CHEESE",), replaced("CHEESE", "GOUDA", weight="0.9")),
    fulfilled("counted for weighed", ("CHEESE",), replaced("CHEESE", "HONEY")),
    rejected("weighed for counted", "weighed_for_counted", ("HONEY",), replaced("HONEY", "GOUDA", weight="0.5")),
    rejected("a more expensive replacement", "dearer", ("JAM",), replaced("JAM", "HONEY")),
    rejected("a replacement that no store has", "replacement_unknown", ("JAM",), replaced("JAM", "NOWHERE")),
    rejected(
        "two replacements",
        "one_replacement",
        ("HONEY",),
        {**replaced("HONEY", "JAM"), "replaced_by": [{"sku": "JAM", "quantity": 1}, {"sku": "MILK", "quantity": 1}]},
    ),
    rejected(
        "a replacement without a quantity",
        "replacement_quantity",
        ("JAM",),
        {"sku": "JAM", "status": "replaced", "replaced_by": {"sku": "BREAD"}},
    ),
    rejected(
        "a weighed replacement without a weight",
        "replacement_weight",
        ("CHEESE",),
        {"sku": "CHEESE", "status": "replaced", "replaced_by": {"sku": "GOUDA"}},
    ),
    # 4.8.8
    fulfilled("an addition at the catalog's price", ("MILK",), picked("MILK"), added("JAM", quantity=2)),
    fulfilled("an addition at another price", ("MILK",), picked("MILK"), added("JAM", quantity=1, unit_price="9")),
    fulfilled("a weighed addition", ("MILK",), picked("MILK"), added("CHEESE", weight="0.4")),
    rejected("an addition without a quantity", "addition_quantity", ("MILK",), picked("MILK"), added("JAM")),
    rejected(
        "a weighed addition without a weight", "addition_weight", ("MILK",), picked("MILK"), added("CHEESE", quantity=1)
    ),
    rejected(
        "an addition that no store has", "addition_unknown", ("MILK",), picked("MILK"), added("NOWHERE", quantity=1)
    ),
    # 4.8.9
    fulfilled("checked first", (TWO,), picked("MILK", quantity=1), more={"check_first": True}),
    # values that can be sent in several ways
    fulfilled("everything as ordered", (TWO,), picked("MILK", quantity=2, unit_price="1.5", total_price="3")),
    rejected(
        "too few pieces", "quantity", ({"sku": "BREAD", "quantity": 3, "min_quantity": 2},), picked("BREAD", quantity=1)
    ),
    fulfilled("a lower total", (TWO,), picked("MILK", total_price="2.5")),
    rejected("too light", "weight", ("CHEESE",), picked("CHEESE", weight="0.4")),
    fulfilled("a replacement at the same price", ("JAM",), replaced("JAM", "HONEY", unit_price="3")),
    rejected("values on what is replaced", "replaced_values", ("JAM",), {**replaced("JAM", "BREAD"), "quantity": 1}),
    rejected(
        "a replacement that is weighed by pieces",
        "weight_of_pieces",
        ("JAM",),
        replaced("JAM", "BREAD", quantity=1, weight="1"),
    ),
    fulfilled("several additions", ("MILK",), picked("MILK"), added("JAM", quantity=1), added("BREAD", quantity=2)),
    fulfilled("more of what is in the order", ("MILK",), picked("MILK"), added("MILK", quantity=1)),
    rejected(
        "an addition with an _id",
        "addition_item_id",
        ("MILK",),
        picked("MILK"),
        added("JAM", quantity=1, item_id="@MILK"),
    ),
    rejected(
        "an addition with a total price",
        "addition_total_price",
        ("MILK",),
        picked("MILK"),
        added("JAM", quantity=1, total_price="2"),
    ),
    rejected(
        "an acceptance with items",
        "accept_alone",
        ("MILK",),
        picked("MILK"),
        action="accept",
        options=VENDOR,
        more=LATER,
    ),
    rejected("a cancellation without its reason", "cancel_reason", ("MILK",), action="cancel"),
    rejected("a line for an item that was not ordered", "item", ("MILK",), picked("MILK"), picked("JAM")),
]

ROWS: dict[str, tuple[str, tuple[str, ...]]] = {
    "3.1, a customer orders": (
        "`RECEIVED`, reported by an event; reaches its store",
        ("test_every_row_of_3_1_and_every_rule_of_4_8_ends_as_specified",),
    ),
    "3.1, `ACCEPTED`": (
        "vendor delivery alone, with its time; no event follows",
        (
            "vendor delivery is accepted", "platform delivery is not accepted", "an acceptance without its time", "an acceptance with items",
            "test_an_accepted_order_is_dispatched_later_and_the_acceptance_has_no_event",
        ),
    ),
    "3.1, `READY_FOR_PICKUP`": (
        "platform riders, and whatever is collected",
        ("platform delivery is ready", "collected in store is ready", "collected from a delivering store is ready"),
    ),
    "3.1, `DISPATCHED`": ("vendor delivery", ("vendor delivery is dispatched",)),
    "3.1, `UPDATE_CART`": ("changes nothing, may be repeated", ("a check changes nothing", "checked first")),
    "3.1, cancelled by customer or logistics": (
        "the store receives the cancellation",
        ("test_what_customers_and_logistics_cancel_reaches_the_store_as_cancelled",),
    ),
    "3.1, `_id` without `sku`": ("is never sent", ("an item by its _id alone",)),
    "4.8, cancelled by the store": (
        "by the store's own request, with its reason",
        ("a store cancels", "a cancellation without its reason"),
    ),
    "4.8.1 accept": (
        "`accepted_for`; a separate `DISPATCHED` later",
        (
            "vendor delivery is accepted", "platform delivery is not accepted", "an acceptance without its time",
            "test_an_accepted_order_is_dispatched_later_and_the_acceptance_has_no_event",
        ),
    ),
    "4.8.2 fulfil": (
        "the status of transport and order type; the event confirms",
        ("platform delivery is ready", "collected in store is ready", "vendor delivery is dispatched", "everything as ordered"),
    ),
    "4.8.3 partial": (
        "a line for each item, also for one that is not found",
        ("what is not found is left out", "an item without a line", "nothing was found", "a line for an item that was not ordered"),
    ),
    "4.8.4 quantity and price": (
        "within bounds, whole; only a lower unit price; one of the two prices",
        (
            "fewer pieces", "more pieces", "too many pieces", "too few pieces", "half a piece", "a lower price", "a higher price",
            "a higher total", "a lower total", "both prices", "a weight of pieces",
        ),
    ),
    "4.8.5 weight": (
        "the weight alone, within bounds",
        ("another weight", "too heavy", "too light", "pieces of what is weighed", "a price of what is weighed"),
    ),
    "4.8.6 `confirmed_amount`": (
        "within a tenth",
        ("a confirmed amount within a tenth", "a confirmed amount beyond a tenth"),
    ),
    "4.8.7 replace": (
        "one, known, complete, not more expensive; active or not; weighed for weighed, counted for weighed",
        (
            "a cheaper replacement", "a replacement at the same price", "an inactive replacement", "weighed for weighed", "counted for weighed",
            "weighed for counted", "a more expensive replacement", "a replacement that no store has", "two replacements",
            "a replacement without a quantity", "a weighed replacement without a weight", "values on what is replaced",
            "a replacement that is weighed by pieces", "test_a_replacement_that_the_platform_does_not_apply_is_reported_to_the_store",
        ),
    ),
    "4.8.8 add": (
        "several, known, complete; a price or the catalog's; again what is in the order",
        (
            "an addition at the catalog's price", "an addition at another price", "a weighed addition", "several additions",
            "more of what is in the order", "an addition without a quantity", "a weighed addition without a weight",
            "an addition that no store has", "an addition with an _id", "an addition with a total price",
        ),
    ),
    "4.8.9 `UPDATE_CART`": (
        "feedback, and nothing changes",
        (
            "a check changes nothing", "checked first", "test_update_cart_comes_first_where_it_is_asked_for_and_its_feedback_is_shown",
            "test_with_a_check_first_no_request_is_sent_that_the_platform_would_not_apply",
        ),
    ),
}  # fmt: skip
"""Row or rule of the interface -> its content, and the cases (or tests) that prove it through DAG, client and sandbox."""
