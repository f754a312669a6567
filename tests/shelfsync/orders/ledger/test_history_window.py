"""Windows of the history: their length, overlap and watermark."""

from __future__ import annotations

import pytest
import sqlalchemy as sa


def place_many(world, number, **options):
    return [world.place("MILK", ago_s=60, **options) for _ in range(number)]


def test_changes_to_known_orders_are_read_again_by_the_overlap(quiet):
    (order,) = place_many(quiet, 1)
    quiet.app.orders.history(["store-001"])
    quiet.platform.control("POST", f"orders/{order['order_id']}/cancel")
    quiet.app.orders.history(["store-001"])
    assert quiet.rows("SELECT status FROM warehouse.customer_order") == [("CANCELLED",)]


@pytest.mark.slow
def test_sixty_days_are_read_by_windows_that_are_soon_whole(make_world):
    world = make_world(orders={"history_requests_max": 3})
    world.platform.faults({"at": "order_webhook", "kind": "lost"})
    days = (50, 33, 20, 3, 0.1)
    placed = [world.place("MILK", ago_s=day * 86_400) for day in days]
    left = [world.app.orders.history(["store-001"])["left"] for _ in range(6)]
    assert left.index(0) > 1
    assert sorted(row[0] for row in world.rows("SELECT order_id FROM warehouse.customer_order")) == sorted(
        one["order_id"] for one in placed
    )
    assert world.rows("SELECT sum(in_history) FROM ledger.order_day") == [(5,)]


def test_no_range_is_longer_than_60_days_however_far_behind_a_store_is(quiet):
    place_many(quiet, 1)
    quiet.app.orders.history(["store-001"])
    with quiet.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.order_history SET covered_to = now() - interval '90 days'"))
    assert quiet.app.orders.history(["store-001"])["failed"] == {}
    assert quiet.rows("SELECT covered_to > now() - interval '1 minute' FROM ledger.order_history") == [(True,)]


def test_a_window_left_behind_for_weeks_is_given_up_for_one_that_the_platform_still_shows(quiet):
    place_many(quiet, 1)
    with quiet.app.context.engine.begin() as connection:
        connection.execute(
            sa.text(
                "INSERT INTO ledger.order_history (vendor, window_start, window_end, next_page, pages) "
                "VALUES ('store-001', now() - interval '80 days', now() - interval '20 days', 7, 9)"
            )
        )
    counts = quiet.app.orders.history(["store-001"])
    assert (counts["orders"], counts["failed"]) == (1, {})
