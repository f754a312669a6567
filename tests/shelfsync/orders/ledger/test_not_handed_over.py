"""New orders that are cancelled or too late are not handed over."""

from __future__ import annotations


def kinds(world):
    return [(document["kind"], document["order_id"]) for document in world.documents()]


def test_an_order_that_was_cancelled_before_the_store_saw_it_is_not_handed_over(world):
    order = world.place("MILK")
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.receive_events()
    world.app.orders.hand_over()
    assert kinds(world) == []


def test_an_order_long_past_its_time_is_not_handed_over(world):
    world.place("MILK", placed_at="2026-01-02T10:00:00Z", promised_for="2026-01-02T10:45:00Z")
    world.receive_events()
    world.app.orders.hand_over()
    assert kinds(world) == []
