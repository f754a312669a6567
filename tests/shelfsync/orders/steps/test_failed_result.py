"""A picking result that raises stops no other, is quarantined after some tries, and can be retried."""

from __future__ import annotations

import pytest

from orders_world import picked


def run(world, statement):
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(statement)


@pytest.mark.slow
def test_a_result_that_raises_stops_no_other_and_is_quarantined_and_retried(world):
    order, good = world.place("MILK"), world.place("JAM")
    world.receive_events()
    world.report(order, "fulfil", picked("MILK"))
    world.report(good, "fulfil", picked("JAM"))
    (kept,) = world.rows("SELECT body FROM ledger.picking_result WHERE order_id = :id", id=order["order_id"])
    run(world, f"UPDATE ledger.picking_result SET body = '{{}}' WHERE order_id = '{order['order_id']}'")
    assert world.app.orders.fulfil()["later"] == 1
    assert world.until(good, "done")["messages"] == []
    last = world.until(order, "quarantined")
    assert "UnreadableResultError" in last["error"]
    assert world.app.orders.fulfil() == world.app.orders.fulfil(), "it is not tried any more"
    (alarm,) = world.app.orders.watch_stores()
    assert f"shelfsync orders retry {order['order_id']}" in alarm

    world.report(order, "fulfil", picked("MILK", quantity=1))
    assert world.until(order, "done")["messages"] == [], "what is behind it goes on"

    run(world, f"UPDATE ledger.picking_result SET body = '{kept[0]}' WHERE body = '{{}}'")
    assert world.app.orders.retry(order["order_id"]) == 1
    world.tick()
    assert [one["state"] for one in world.results(order)] == ["rejected", "done"], "the order was picked already"
