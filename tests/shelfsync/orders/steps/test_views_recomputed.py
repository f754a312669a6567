"""The views over orders, compared with values computed in another way from the platform's own orders."""

from __future__ import annotations

import random
from collections import defaultdict
from decimal import Decimal

import pytest

from orders_world import added, not_found, picked, replaced

pytestmark = pytest.mark.slow

CHEAPER = {"JAM": "BREAD", "HONEY": "JAM", "BREAD": "MILK"}
REASONS = [("CUSTOMER", "CHANGED_MIND"), ("LOGISTICS", "NO_RIDER")]


def exact(value):
    return Decimal(str(value))


def line_for(item, chance):
    """A legal line for one item."""
    named, dice = {"item_id": item["_id"]}, chance.random()
    if dice < 0.2:
        return not_found(item["sku"], **named)
    if dice < 0.45 and item["sku"] in CHEAPER:
        return {**replaced(item["sku"], CHEAPER[item["sku"]]), **named}
    if item["sku"] == "CHEESE":
        return picked("CHEESE", weight=chance.choice(["0.5", "0.75", "1.2"]), **named)
    ordered = item["pricing"]["quantity"]
    return picked(item["sku"], quantity=chance.randint(1, ordered + 1), **named)


@pytest.fixture(params=[1, 2])
def shown(world, request):
    """The orders of some days as the platform shows them, after all events."""
    chance = random.Random(request.param)
    placed = []
    for number in range(14):
        skus = chance.sample(["MILK", "BREAD", "JAM", "HONEY", "CHEESE"], chance.randint(1, 4))
        lines = [{"sku": sku, "quantity": 1 if sku == "CHEESE" else chance.randint(1, 4)} for sku in skus]
        transport = chance.choice(["LOGISTICS_DELIVERY", "VENDOR_DELIVERY"])
        placed.append(world.place(*lines, ago_s=chance.randint(1, 3) * 86_400 + number, transport_type=transport))
    world.receive_events()
    for order in placed:
        fate = chance.random()
        if fate < 0.15:
            by, reason = chance.choice(REASONS)
            world.platform.control("POST", f"orders/{order['order_id']}/cancel", {"by": by, "reason": reason})
        elif fate < 0.85:
            first, *rest = order["items"]
            kept = picked(first["sku"], item_id=first["_id"])
            more = [added("MILK", quantity=2)] if chance.random() < 0.3 else []
            world.report(order, "fulfil", kept, *(line_for(item, chance) for item in rest), *more)
            world.until(order, "done")
            if chance.random() < 0.3:
                world.platform.control("POST", f"orders/{order['order_id']}/pick-up")
    world.receive_events()
    world.app.orders.history(["store-001"])
    world.app.orders.history(["store-001"])
    return world, [world.shown(order) for order in placed]


def day(order):
    return order["sys"]["created_at"][:10]


def fulfilled(orders):
    return [order for order in orders if order["status"].upper() in {"READY_FOR_PICKUP", "DISPATCHED", "PICKED_UP"}]


def was_ordered(order):
    return [item for item in order["items"] if item["status"] != "ADDITION" and not item.get("replaced_id")]


def found(world, view, columns):
    return sorted(
        tuple(str(value) if hasattr(value, "isoformat") else value for value in row)
        for row in world.rows(f"SELECT {columns} FROM warehouse.{view}")
    )


def test_every_view_equals_the_result_computed_from_the_platforms_own_orders(shown):
    world, orders = shown
    done = fulfilled(orders)
    assert 3 < len(done) < len(orders), "the orders end in several ways"
    _fill_rate(world, done)
    _shorts(world, done)
    _substitutions(world, done)
    _revenue(world, done)
    _cancellations(world, orders)


def _fill_rate(world, done):
    days = defaultdict(lambda: defaultdict(Decimal))
    for order in done:
        days[day(order)]["orders"] += 1
        for item in was_ordered(order):
            mine, ordered = days[day(order)], exact(item["original_pricing"]["quantity"])
            got = min(exact(item["pricing"]["quantity"]), ordered) if item["status"] == "IN_CART" else 0
            mine["lines"] += 1
            mine["whole"] += got >= ordered
            mine["not_found"] += item["status"] == "NOT_FOUND"
            mine["replaced"] += item["status"] == "REPLACED"
            mine["short"] += 0 < got < ordered
            if item["pricing"]["pricing_type"] == "UNIT":
                mine["pieces"] += ordered
                mine["got"] += got
    names = ("orders", "lines", "whole", "short", "not_found", "replaced", "pieces", "got")
    columns = "day, orders, lines_ordered, lines_whole, lines_short, lines_not_found, lines_replaced, coalesce(pieces_ordered, 0), coalesce(pieces_delivered, 0)"
    assert found(world, "order_fill_rate", columns) == sorted(
        (one, *(mine[name] for name in names)) for one, mine in days.items()
    )
    for rate, lines in world.rows(
        "SELECT fill_rate - pieces_delivered::float / pieces_ordered, line_fill_rate - lines_whole::float / lines_ordered FROM warehouse.order_fill_rate WHERE pieces_ordered > 0"
    ):
        assert abs(rate) < 1e-9
        assert abs(lines) < 1e-9


def _shorts(world, done):
    missing = defaultdict(lambda: [0, 0, Decimal(0)])
    for order in done:
        for item in was_ordered(order):
            counted = item["pricing"]["pricing_type"] == "UNIT"
            ordered, now = exact(item["original_pricing"]["quantity"]), exact(item["pricing"]["quantity"])
            lacks = ordered if item["status"] != "IN_CART" else max(Decimal(0), ordered - now)
            if item["status"] != "IN_CART" or (counted and lacks):
                mine = missing[day(order), item["sku"]]
                mine[0] += item["status"] == "NOT_FOUND"
                mine[1] += item["status"] == "REPLACED"
                mine[2] += lacks if counted else 0
    columns = "day, sku, not_found, replaced, coalesce(pieces_missing, 0)"
    assert found(world, "order_short", columns) == sorted((*key, *mine) for key, mine in missing.items())


def _substitutions(world, done):
    pairs = defaultdict(lambda: [0, Decimal(0)])
    for order in done:
        of_id = {item["_id"]: item for item in order["items"]}
        for item in order["items"]:
            if item.get("replaced_id"):
                old = of_id[item["replaced_id"]]
                mine = pairs[old["sku"], item["sku"]]
                mine[0] += 1
                mine[1] += exact(old["original_pricing"]["total_price"]) - exact(item["pricing"]["total_price"])
    assert found(world, "order_substitution", "sku, by_sku, times, cheaper_by") == sorted(
        (*key, *mine) for key, mine in pairs.items()
    )


def _revenue(world, done):
    sold = defaultdict(lambda: [set(), Decimal(0), Decimal(0), Decimal(0)])
    for order in done:
        for item in order["items"]:
            if item["status"] in {"IN_CART", "ADDITION"}:
                pricing = item["pricing"]
                mine = sold[day(order), item["sku"]]
                mine[0].add(order["order_id"])
                mine[1] += exact(pricing["quantity"]) if pricing["pricing_type"] == "UNIT" else 0
                mine[2] += exact(pricing.get("weight", 0))
                mine[3] += exact(pricing["total_price"])
    columns = "day, sku, orders, coalesce(pieces, 0), coalesce(kilograms, 0), revenue"
    assert found(world, "order_revenue", columns) == sorted(
        (*key, len(ids), *rest) for key, (ids, *rest) in sold.items()
    )


def _cancellations(world, orders):
    reasons = defaultdict(int)
    for order in orders:
        if order["status"].upper() == "CANCELLED":
            reasons[day(order), order["cancellation"]["cancelled_by"], order["cancellation"]["reason"]] += 1
    assert found(world, "order_cancellation", "day, cancelled_by, cancel_reason, orders") == sorted(
        (*key, count) for key, count in reasons.items()
    )
