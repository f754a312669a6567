"""Alert `orders_wait`: from when an event of an order waits too long, while no step of orders runs that could report it."""

from __future__ import annotations

import sqlalchemy as sa

from alert_look import having, kinds


def arrives(context, identity, minutes):
    event = "INSERT INTO inbox.event (kind, identity, body, received_at) VALUES ('order', :identity, '', now() - make_interval(mins => :ago))"
    with context.engine.begin() as connection:
        connection.execute(sa.text(event), {"identity": identity, "ago": minutes})


def test_an_event_of_an_order_that_no_task_takes_up_is_an_alert_until_one_does(context):
    context = having(context, "orders", hand_over="files")
    arrives(context, "one", 4)
    assert kinds(context) == set(), "a store has five minutes"
    arrives(context, "two", 6)
    assert kinds(context) == {("orders_wait", "")}
    with context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE inbox.event SET processed_at = now()"))
    assert kinds(context) == set()


def test_orders_that_stores_get_elsewhere_wait_for_nothing(context):
    arrives(context, "one", 60)
    assert kinds(having(context, "orders", hand_over="none")) == set()
