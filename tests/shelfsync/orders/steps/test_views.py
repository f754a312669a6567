"""The views of orders, with two fulfilled orders, a cancelled one and an open one."""

from __future__ import annotations

import pytest

from orders_world import added, not_found, picked, replaced


@pytest.fixture
def fulfilled_orders(world):
    first = world.place({"sku": "MILK", "quantity": 4}, "JAM", "HONEY")
    second = world.place({"sku": "MILK", "quantity": 2}, "CHEESE")
    third = world.place("JAM")
    world.place("BREAD")
    world.receive_events()
    world.report(
        first,
        "fulfil",
        picked("MILK", quantity=1),
        not_found("JAM"),
        replaced("HONEY", "BREAD"),
        added("BREAD", quantity=2),
    )
    world.report(second, "fulfil", picked("MILK"), picked("CHEESE", weight="0.5"))
    world.platform.control("POST", f"orders/{third['order_id']}/cancel", {"by": "CUSTOMER", "reason": "TOO_LATE"})
    world.until(first, "done")
    world.until(second, "done")
    world.receive_events()
    return world


def one(world, view, columns, where="true"):
    rows = world.rows(f"SELECT {columns} FROM warehouse.{view} WHERE {where}")
    return [
        tuple(
            float(value) if hasattr(value, "is_integer") or value.__class__.__name__ == "Decimal" else value
            for value in row
        )
        for row in rows
    ]


@pytest.mark.slow
def test_the_fill_rate_counts_what_was_ordered_and_what_was_delivered(fulfilled_orders):
    columns = "orders, lines_ordered, lines_whole, lines_short, lines_not_found, lines_replaced, pieces_ordered, pieces_delivered, fill_rate, line_fill_rate"
    assert one(fulfilled_orders, "order_fill_rate", columns) == [(2, 5, 2, 1, 1, 1, 8, 3, 0.375, 0.4)]


@pytest.mark.slow
def test_substitutions_show_what_was_replaced_by_what_and_what_it_saved(fulfilled_orders):
    assert one(fulfilled_orders, "order_substitution", "sku, by_sku, times, cheaper_by") == [("HONEY", "BREAD", 1, 7)]


@pytest.mark.slow
def test_shorts_show_which_sku_was_missing_in_which_store(fulfilled_orders):
    rows = one(fulfilled_orders, "order_short", "sku, not_found, replaced, pieces_missing")
    assert sorted(rows) == [("HONEY", 0, 1, 1), ("JAM", 1, 0, 1), ("MILK", 0, 0, 3)]


@pytest.mark.slow
def test_cancellations_have_their_reason(fulfilled_orders):
    assert one(fulfilled_orders, "order_cancellation", "cancelled_by, cancel_reason, orders") == [
        ("CUSTOMER", "TOO_LATE", 1)
    ]


@pytest.mark.slow
def test_promises_are_held_against_what_was_ready(fulfilled_orders):
    rows = one(fulfilled_orders, "order_promise", "status, early_s > 0")
    assert sorted(rows, key=str) == [
        ("CANCELLED", None),
        ("READY_FOR_PICKUP", True),
        ("READY_FOR_PICKUP", True),
        ("RECEIVED", None),
    ]


@pytest.mark.slow
def test_the_picking_time_is_that_of_fulfilled_orders(fulfilled_orders):
    ((orders, median_s, p90_s),) = one(fulfilled_orders, "order_picking_time", "orders, picked_p50_s, picked_p90_s")
    assert orders == 2
    assert 0 < median_s <= p90_s < 600


@pytest.mark.slow
def test_revenue_is_what_fulfilled_orders_brought_in(fulfilled_orders):
    rows = one(fulfilled_orders, "order_revenue", "sku, orders, pieces, kilograms, revenue")
    assert sorted(rows) == [("BREAD", 1, 3, None, 6), ("CHEESE", 1, None, 0.5, 6), ("MILK", 2, 3, None, 4.5)]


@pytest.mark.slow
def test_every_version_of_an_order_is_in_the_view(fulfilled_orders):
    sources = {row[0] for row in fulfilled_orders.rows("SELECT DISTINCT source FROM warehouse.order_event")}
    assert {"event", "answer"} <= sources
