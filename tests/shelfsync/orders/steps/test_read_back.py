"""An order that is known by no event is read back from the platform."""

from __future__ import annotations

from orders_world import picked


def test_a_result_for_an_order_of_which_no_event_came_asks_the_platform(world):
    world.platform.faults({"at": "order_webhook", "kind": "lost"})
    order = world.place("MILK")
    world.report(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    assert world.shown(order)["status"] == "READY_FOR_PICKUP"


def test_a_result_for_an_unknown_order_is_rejected(world):
    unknown_order = {"order_id": "5b8e6f3c-1111-4222-8333-444455556666"}
    world.report(unknown_order, "fulfil", picked("MILK"))
    assert world.until(unknown_order, "rejected")["rules"] == ["unknown_order"]
