"""An order that no store takes is found, however long ago it was promised."""

from __future__ import annotations

import pytest

from orders_world import change, picked


def test_an_order_fulfilled_without_being_taken_raises_no_alarm(world):
    order = world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    world.report(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    change(world, "UPDATE ledger.customer_order SET first_seen_at = now() - interval '10 minutes'")
    assert world.app.orders.watch_stores() == []


def promised(world, hours):
    """Moves the promise so long ago, and the arrival of the order to an hour before it."""
    promise = f"now() - interval '{hours} hours'"
    change(
        world,
        f"UPDATE ledger.customer_order SET promised_for = {promise}, first_seen_at = {promise} - interval '1 hour'",
    )


@pytest.mark.slow
def test_an_order_that_no_store_took_stays_an_alarm_however_long_ago_it_was_promised(world):
    order = world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    promised(world, 7)
    (alarm,) = world.app.orders.watch_stores()
    assert "store store-001: 1 orders are not taken, the oldest for 480 minutes" in alarm
    world.app.orders.hand_over()
    assert world.app.orders.watch_stores() == []
    assert [row["line"] for row in world.app.orders.today()["alarms"]] == [alarm]
    assert world.app.status()["orders"]["not_taken"] == 1
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.receive_events()
    for file in world.folder.glob("*/*.json"):
        file.unlink()
    world.app.orders.hand_over()
    for file in world.folder.glob("*/*.json"):
        file.unlink()
    world.app.orders.hand_over()
    world.app.orders.watch_stores()
    assert world.app.orders.today()["alarms"] == []
