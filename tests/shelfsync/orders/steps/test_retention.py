"""The retention of orders: customer data has the shortest one."""

from __future__ import annotations

import datetime as dt

import pytest

from orders_world import PHONE, change, picked

LEDGER_TABLES = {
    "ledger.customer_order": "order_id = :id",
    "ledger.order_version": "order_id = :id",
    "ledger.hand_over": "order_id = :id",
    "ledger.picking_result": "order_id = :id",
    "ledger.lease": "vendor = 'order:' || :id",
}


def fulfilled(world):
    order = world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    world.report(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    world.receive_events()
    return order


@pytest.mark.slow
def test_a_customer_is_forgotten_by_the_housekeeping_though_no_history_is_read(world):
    fulfilled(world)
    assert world.app.remove_expired()["rows"] == {}
    change(world, "UPDATE warehouse.order_customer SET remove_at = now()")
    assert world.app.remove_expired()["rows"] == {"warehouse.order_customer": 1}


@pytest.mark.slow
def test_a_forgotten_customer_is_not_stored_again_by_a_later_version(world):
    """For example, the history resumes after a month and reads its overlap again."""
    order = world.place("MILK", ago_s=600)
    world.receive_events()
    assert world.rows("SELECT count(*) FROM warehouse.order_customer") == [(1,)]
    change(
        world,
        "UPDATE ledger.customer_order SET first_seen_at = now() - interval '31 days'",
        "UPDATE warehouse.order_customer SET remove_at = remove_at - interval '31 days'",
    )
    counts = world.app.orders.history(["store-001"])
    assert (counts["forgotten"], counts["orders"]) == (1, 1)
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.receive_events()
    world.app.orders.history(["store-001"])
    assert world.rows("SELECT status FROM ledger.customer_order") == [("CANCELLED",)]
    assert world.rows("SELECT count(*) FROM warehouse.order_customer") == [(0,)]


@pytest.mark.slow
def test_a_customer_received_late_is_kept_for_the_rest_of_the_orders_days(world):
    """The first version had no customer, or there was no key yet."""
    world.place("MILK", ago_s=600)
    world.receive_events()
    change(world, "DELETE FROM warehouse.order_customer")
    change(world, "UPDATE ledger.customer_order SET first_seen_at = first_seen_at - interval '20 days'")
    world.app.orders.history(["store-001"])
    found = "SELECT remove_at - first_seen_at FROM warehouse.order_customer JOIN ledger.customer_order USING (order_id)"
    assert world.rows(found) == [(dt.timedelta(days=30),)]


@pytest.mark.slow
def test_an_event_keeps_its_customer_no_longer_than_an_order_does(make_world):
    """The body of an event that is not applied has the customer; the identity of every event has a hash of it."""
    world = make_world(orders={"customer_days": 5}, housekeeping={"event_days": 300})
    world.place("MILK")
    world.receive_events()
    world.place("MILK")
    world.platform.until_quiescent()
    held = "SELECT count(*) FROM inbox.event WHERE convert_from(body, 'UTF8') LIKE :phone"
    assert world.rows(held, phone=f"%{PHONE}%") == [(1,)]
    change(
        world,
        "INSERT INTO inbox.event (kind, identity, body) SELECT 'unknown', 'in an envelope', body FROM inbox.event LIMIT 1",
    )
    change(world, "UPDATE inbox.event SET received_at = now() - interval '6 days'")
    world.app.remove_expired()
    assert world.rows("SELECT count(*) FROM inbox.event") == [(0,)]


@pytest.mark.slow
def test_orders_leave_the_ledger_and_much_later_the_warehouse(world):
    old = fulfilled(world)
    young = fulfilled(world)
    mine = f"WHERE order_id = '{old['order_id']}'"
    change(
        world,
        f"UPDATE ledger.customer_order SET first_seen_at = now() - interval '91 days', placed_at = now() - interval '91 days' {mine}",
        f"UPDATE ledger.picking_result SET received_at = now() - interval '91 days' {mine}",
        f"UPDATE ledger.lease SET until_at = now() - interval '3 days' WHERE vendor = 'order:{old['order_id']}'",
    )
    of_young = {
        table: world.rows(f"SELECT count(*) FROM {table} WHERE {whose}", id=young["order_id"])[0][0]
        for table, whose in LEDGER_TABLES.items()
    }
    assert 0 not in of_young.values()
    world.app.remove_expired()
    assert {table: world.rows(f"SELECT count(*) FROM {table}")[0][0] for table in LEDGER_TABLES} == of_young
    assert world.rows("SELECT count(*) FROM warehouse.customer_order") == [(2,)]
    change(world, f"UPDATE warehouse.customer_order SET placed_at = now() - interval '401 days' {mine}")
    change(world, f"UPDATE warehouse.order_customer SET remove_at = now() {mine}")
    world.app.remove_expired()
    assert world.rows("SELECT order_id FROM warehouse.customer_order") == [(young["order_id"],)]
    assert {row["order_id"] for row in world.app.orders.orders()} == {young["order_id"]}


@pytest.mark.slow
def test_an_old_result_that_is_still_on_its_way_stays(world):
    order = world.place("MILK")
    world.receive_events()
    world.report(order, "fulfil", picked("MILK"))
    change(
        world,
        "UPDATE ledger.customer_order SET first_seen_at = now() - interval '91 days', placed_at = now() - interval '91 days'",
        "UPDATE ledger.picking_result SET received_at = now() - interval '91 days'",
    )
    world.app.remove_expired()
    world.until(order, "done")
