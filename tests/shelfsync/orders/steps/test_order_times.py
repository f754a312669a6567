"""Times of orders are believed only near their receipt: a wrong one holds no order, and a person sees it."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import uuid

import httpx
import pytest

from orders_bodies import body, item
from orders_world import PHONE, SECRET, ago
from receiver_fixture import LiveReceiver

AHEAD = "2999-01-01T00:00:00Z"
ODD = (AHEAD, "9999-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "0001-01-01", "soon", "", None, 32503680000)


def event(status, at, *items, **more):
    times = {"created_at": ago(600), "updated_at": at}
    return body(*items, status=status, promised_for=ago(-3600), **more) | {"sys": times}


def send(url, *events):
    """Each is stored."""
    with httpx.Client(trust_env=False, headers={"Authorization": SECRET}) as platform:
        for one in events:
            answer = platform.post(url, content=json.dumps(one, default=float))
            assert answer.json() == {"status": "stored"}


def applied(world, *events):
    send(f"{world.receiver_url}/webhook", *events)
    assert world.app.orders.take()["quarantined"] == 0


@pytest.mark.slow
def test_no_time_of_an_event_keeps_an_order_from_its_end(world, database_url, here):
    """Through the receiver's own process, in every sequence of arrival, to what a person sees."""
    orders = {}
    for at in ODD:
        for sequence in itertools.permutations(("RECEIVED", "READY_FOR_PICKUP", "CANCELLED")):
            times = {"RECEIVED": at, "READY_FOR_PICKUP": ago(300), "CANCELLED": ago(30)}
            order_id = str(uuid.uuid4())
            orders[order_id] = [event(status, times[status], order_id=order_id) for status in sequence]
    with LiveReceiver(database_url, SHELFSYNC_WEBHOOK__SECRET=SECRET) as receiver:
        send(f"http://127.0.0.1:{receiver.port}/webhook", *itertools.chain.from_iterable(orders.values()))
    assert world.app.orders.take() == {"events": 3 * len(orders), "quarantined": 0, "orders": len(orders)}
    assert world.rows("SELECT DISTINCT status FROM warehouse.customer_order") == [("CANCELLED",)]
    assert world.rows("SELECT count(*) FROM warehouse.customer_order WHERE updated_at > now()") == [(0,)]
    code, shown, _ = here("show", next(iter(orders)))
    assert code == 0
    assert "  updated_at 2999-01-01 00:00:00 UTC is not near the receipt: not used" in shown.splitlines()
    listed = here("list", "--limit", "100")[1].splitlines()
    assert sum("a time of it is not believed" in line for line in listed) == 6 * len([at for at in ODD if at])


def test_a_time_that_is_not_believed_is_told_and_the_order_is_in_the_list(world, here, caplog):
    applied(world, event("RECEIVED", AHEAD) | {"sys": {"created_at": "soon", "updated_at": AHEAD}})
    assert "updated_at and created_at" in caplog.text
    (row,) = world.app.orders.orders()
    assert (row["placed_at"], row["has_odd_time"]) == (None, True)
    (version,) = world.app.orders.order(row["order_id"])["versions"]
    assert version["not_believed"] == [
        "updated_at 2999-01-01 00:00:00 UTC is not near the receipt: not used",
        "created_at (unreadable) is not near the receipt: not used",
    ]
    assert "a time of it is not believed" in here("list")[1]
    applied(world, event("READY_FOR_PICKUP", ago(10)))
    assert world.rows("SELECT status FROM ledger.customer_order") == [("READY_FOR_PICKUP",)]


def test_a_promise_of_1970_keeps_no_order_from_its_store(world):
    at = ago(10)
    world.app.orders.take()
    applied(world, event("RECEIVED", at) | {"promised_for": "1970-01-01T00:00:00Z"})
    with world.app.context.engine.connect() as connection:
        from shelfsync.orders.ledger import handovers

        assert handovers.plan(connection, late_hours=6) == 1


@pytest.mark.slow
def test_an_event_that_differs_in_one_value_alone_is_applied(world):
    """Order, status and time of change are equal; the later event is no repeat."""
    at = ago(60)
    applied(world, event("RECEIVED", at, item("MILK", 1)))
    applied(world, event("RECEIVED", at, item("MILK", 1, quantity=3)))
    assert world.rows("SELECT quantity FROM warehouse.order_item") == [(3,)]
    first = event("RECEIVED", at, item("MILK", 1, quantity=3), customer={"phone_number": "+447700900001"})
    applied(world, first, first | {"customer": {"phone_number": PHONE}})
    assert world.app.orders.orders_of(PHONE) == [first["order_id"]]


def test_an_event_that_waited_in_the_inbox_is_as_old_as_its_receipt(world):
    """It has no time. It is applied after a later one: because it was quarantined, or another process had it."""
    send(f"{world.receiver_url}/webhook", event("RECEIVED", None, item("MILK", 1)))
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE inbox.event SET processed_at = now(), received_at = now() - interval '1 hour'"
        )
    applied(world, event("RECEIVED", ago(60), item("MILK", 1, quantity=3)))
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE inbox.event SET processed_at = NULL WHERE event_id = 1")
    world.app.orders.take()
    assert world.rows("SELECT quantity FROM warehouse.order_item") == [(3,)]


def test_a_version_keeps_its_earliest_receipt_in_whatever_sequence_its_events_are_applied(world):
    repeated = [event("RECEIVED", None, item("MILK", 1), customer={"phone_number": phone}) for phone in (PHONE, "+1")]
    send(f"{world.receiver_url}/webhook", *repeated)
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE inbox.event SET processed_at = now(), received_at = now() - interval '2 hours' WHERE event_id = 1"
        )
    world.app.orders.take()
    applied(world, event("RECEIVED", ago(3600), item("MILK", 1, quantity=3)))
    assert world.rows("SELECT quantity FROM warehouse.order_item") == [(1,)]
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE inbox.event SET processed_at = NULL WHERE event_id = 1")
    world.app.orders.take()
    assert world.rows("SELECT quantity FROM warehouse.order_item") == [(3,)]


def test_the_receipt_is_the_databases_time(world):
    before = world.rows("SELECT ledger.instant()")[0][0]
    applied(world, event("RECEIVED", AHEAD))
    (received_at,), (seen_at,) = (
        world.rows("SELECT received_at FROM inbox.event")[0],
        world.rows("SELECT seen_at FROM ledger.order_version")[0],
    )
    assert before <= received_at == seen_at <= before + dt.timedelta(minutes=1)


def test_no_hash_of_the_customer_is_left_after_an_erasure_nor_comes_back(world):
    order = event("RECEIVED", ago(60), customer={"phone_number": PHONE})
    applied(world, order)
    world.app.orders.forget([order["order_id"]])
    assert world.rows("SELECT identity FROM inbox.event") == [("forgotten:1",)]
    applied(world, order)  # the platform repeats it
    assert {identity for (identity,) in world.rows("SELECT identity FROM inbox.event")} == {
        "forgotten:1",
        "forgotten:2",
    }
    assert world.rows("SELECT count(*) FROM ledger.order_version") == [(1,)]
    assert world.app.orders.orders_of(PHONE) == []
