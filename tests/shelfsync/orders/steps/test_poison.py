"""One event, result or row that cannot be used stops no other, for any error."""

from __future__ import annotations

import json
import random

import httpx
import pytest
from fastapi import Request  # noqa: TC002  FastAPI reads annotations
from fastapi.testclient import TestClient

from orders_bodies import ORDER_ID, body, item
from orders_world import PHONE, PICKING_SECRET, SECRET, picked
from shelfsync.errors import DataError
from shelfsync.orders.encryption import CustomerCipher
from shelfsync.orders.order_state import as_json
from shelfsync.pages.app import create_app
from shelfsync.pages.rights import Viewer

CUSTOMER = {"first_name": "Robin", "phone_number": PHONE}


def long(length=10_000):
    """Text that nothing packs: an index cannot hold it."""
    chance = random.Random(5)
    return "".join(chr(chance.randrange(0x4E00, 0x9FFF)) for _ in range(length))


def numbered(number):
    return f"{number:08}-2222-4333-8444-555555555555"


def post(world, raw, encoding="utf-8"):
    return httpx.post(
        f"{world.receiver_url}/webhook/orders",
        content=as_json(raw).encode(encoding),
        headers={"Authorization": SECRET},
        trust_env=False,
    )


def stored(world, raw):
    """The event as a receiver without bounds stored it; its number."""
    with world.app.context.engine.begin() as connection:
        return connection.exec_driver_sql(
            "INSERT INTO inbox.event (kind, identity, body) VALUES ('order', %s, %s) RETURNING event_id",
            (f"order:{random.random()}", as_json(raw).encode()),
        ).scalar_one()


def run(world, statement):
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(statement)


def applied(world):
    return {row[0] for row in world.rows("SELECT order_id FROM warehouse.customer_order")}


def waiting(world):
    return world.rows("SELECT count(*) FROM inbox.event WHERE processed_at IS NULL")[0][0]


POISONED = {
    "sku": lambda: body(item(long(), 1)),
    "status": lambda: body(status=long()),
    "store_id": lambda: body(client={"store_id": long()}),
    "order_id": lambda: body(order_id=long()),
}


@pytest.mark.parametrize("field", POISONED)
def test_an_order_event_with_an_endless_identifier_is_rejected_by_the_receiver(world, field):
    answer = post(world, POISONED[field]())
    assert (answer.status_code, f"{field} is longer than 255 characters" in answer.text) == (400, True)
    assert waiting(world) == 0


@pytest.mark.parametrize("field", POISONED)
def test_a_stored_event_with_an_endless_identifier_is_quarantined_and_later_events_are_applied(world, field, caplog):
    stored(world, body(order_id=numbered(1)))
    number = stored(world, POISONED[field]() | {"customer": CUSTOMER})
    stored(world, body(order_id=numbered(2)))
    assert world.app.orders.take() == {"events": 3, "orders": 2, "quarantined": 1}
    assert applied(world) == {numbered(1), numbered(2)}
    (row,) = world.app.inbox.listed(only_quarantined=True)
    assert (row["event_id"], f"{field} is longer than 255 characters" in row["quarantine_reason"]) == (number, True)
    assert not [line for line in caplog.messages if PHONE in line]


def test_an_event_that_raises_is_quarantined_counted_shown_and_replayed(world, caplog):
    run(world, "ALTER TABLE warehouse.order_item ADD CONSTRAINT broken CHECK (sku <> 'POISON')")
    for number in range(20):
        stored(world, body(item("POISON" if number == 7 else "MILK", 1), order_id=numbered(number), customer=CUSTOMER))
    assert world.app.orders.take() == {"events": 20, "orders": 19, "quarantined": 1}
    assert applied(world) == {numbered(number) for number in range(20) if number != 7}
    (row,) = world.app.inbox.listed(only_quarantined=True)
    assert "SQLSTATE 23514" in row["quarantine_reason"]
    assert not [text for text in (row["quarantine_reason"], caplog.text) if PHONE in text or "POISON" in text]

    (alarm,) = world.app.orders.watch_stores()
    assert f"shelfsync inbox replay {row['event_id']}" in alarm
    assert world.app.orders.watch_stores() == [], "one alarm a stall"
    assert [one["event_id"] for one in world.app.orders.today()["quarantined_events"]] == [row["event_id"]]
    assert world.app.orders.take()["events"] == 0

    run(world, "ALTER TABLE warehouse.order_item DROP CONSTRAINT broken")
    assert world.app.inbox.replay([row["event_id"]]) == [{"platform_job_id": None, "events": 1}]
    assert world.app.orders.take() == {"events": 1, "orders": 1, "quarantined": 0}
    assert numbered(7) in applied(world)
    world.app.orders.watch_stores()
    assert "quarantined" not in {one["kind"] for one in world.app.orders.today()["alarms"]}


def test_an_event_that_is_quarantined_after_an_alarm_raises_a_new_one(world):
    run(world, "ALTER TABLE warehouse.order_item ADD CONSTRAINT broken CHECK (sku <> 'POISON')")
    for number in (1, 2):
        stored(world, body(item("POISON", 1), order_id=numbered(number), customer=CUSTOMER))
        world.app.orders.take()
        (alarm,) = world.app.orders.watch_stores()
        assert f"{number} order events could not be applied" in alarm
        assert world.app.orders.watch_stores() == []
    assert len(world.app.orders.today()["alarms"]) == 1, "the older alarm has ended"


def test_an_event_without_an_order_is_quarantined_too(world):
    with world.app.context.engine.begin() as connection:
        insert = "INSERT INTO inbox.event (kind, identity, body) VALUES ('order', %s, %s)"
        for name, content in {"none": b"", "cut": b'{"order_id"', "list": b"[]", "nameless": b"{}"}.items():
            connection.exec_driver_sql(insert, (name, content))
    stored(world, body())
    assert world.app.orders.take() == {"events": 5, "orders": 1, "quarantined": 4}


def test_an_unavailable_database_quarantines_nothing(world):
    stored(world, body())
    run(world, "ALTER TABLE warehouse.order_item RENAME TO away")
    with pytest.raises(Exception, match="order_item"):
        world.app.orders.take()
    run(world, "ALTER TABLE warehouse.away RENAME TO order_item")
    assert world.app.orders.take() == {"events": 1, "orders": 1, "quarantined": 0}


def test_an_applied_orders_event_is_not_replayed(world):
    number = stored(world, body())
    world.app.orders.take()
    with pytest.raises(DataError, match="orders_history reads the order again"):
        world.app.inbox.replay([number])


def test_a_quarantined_event_is_removed_with_its_customer(world):
    number = stored(world, body(item(long(), 1), customer=CUSTOMER))
    world.app.orders.take()
    run(world, "UPDATE inbox.event SET received_at = received_at - interval '31 days'")
    world.app.remove_expired()
    assert world.rows("SELECT 1 FROM inbox.event WHERE event_id = :id", id=number) == []


def test_an_exception_of_the_database_shows_no_parameters(world):
    with pytest.raises(Exception, match="nowhere") as caught, world.app.context.engine.connect() as connection:
        connection.exec_driver_sql("SELECT * FROM nowhere WHERE phone = %s", (PHONE,))
    assert PHONE not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_an_event_answered_200_is_applied_in_every_encoding(world, encoding):
    assert post(world, body(), encoding).status_code == 200
    assert world.app.orders.take() == {"events": 1, "orders": 1, "quarantined": 0}
    assert applied(world) == {ORDER_ID}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_picking_result_is_read_in_the_same_encodings(world, encoding):
    content = json.dumps({"action": "cancel", "reason": "CLOSED"}).encode(encoding)
    url = f"{world.receiver_url}/picking/{ORDER_ID}"
    answer = httpx.post(url, content=content, headers={"Authorization": PICKING_SECRET}, trust_env=False)
    assert answer.status_code == 202


HUGE = ["1E+90", "-1E+90", "1" + "0" * 90, "0." + "3" * 90]


@pytest.mark.slow
@pytest.mark.parametrize("number", HUGE)
def test_a_number_without_bounds_in_an_order_keeps_no_result_waiting(world, number):
    from decimal import Decimal

    order = world.place("CHEESE")
    world.receive_events()
    (old,) = world.rows("SELECT body FROM ledger.order_version WHERE order_id = :id", id=order["order_id"])
    raw = json.loads(old[0]) | {"sys": {"created_at": "2026-03-01T10:00:00Z", "updated_at": "2099-03-01T10:00:00Z"}}
    raw["items"][0]["pricing"] |= {"weight": Decimal(number), "unit_price": Decimal(number)}
    raw["payment"] = {"sub_total": Decimal(number), "order_total": Decimal(number)}
    assert post(world, raw).status_code == 200
    good = world.place("MILK")
    world.receive_events()
    world.report(order, "fulfil", picked("CHEESE"), confirmed_amount=1)
    world.report(good, "fulfil", picked("MILK"))
    assert world.until(good, "done")["messages"] == []
    assert world.results(order)[-1]["state"] in {"rejected", "done"}


@pytest.mark.parametrize("total", ["1E+90", "'NaN'", "'Infinity'"])
def test_a_row_that_cannot_be_shown_hides_no_other(world, total):
    one, other = world.place("MILK"), world.place("JAM")
    world.receive_events()
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            f"UPDATE warehouse.customer_order SET order_total = {total}::numeric WHERE order_id = %s",
            (one["order_id"],),
        )

    def guard(request: Request) -> None:
        request.state.viewer = Viewer("ada", may_decide=True)

    with TestClient(create_app(lambda: world.app.context, guard)) as client:
        page = client.get("/orders")
        assert page.status_code == 200
        assert one["order_id"] in page.text
        assert other["order_id"] in page.text
        assert client.get(f"/orders/{one['order_id']}").status_code == 200


@pytest.mark.slow
def test_an_order_of_the_history_that_cannot_be_applied_stops_no_other(world):
    world.platform.faults({"at": "order_webhook", "kind": "lost", "times": 3})
    orders = [world.place(sku, ago_s=60) for sku in ("MILK", "JAM", "BREAD")]
    run(world, "ALTER TABLE warehouse.order_item ADD CONSTRAINT broken CHECK (sku <> 'JAM')")
    counts = world.app.orders.history(["store-001"])
    assert (counts["orders"], counts["unreadable"], counts["failed"]) == (2, 1, {})
    assert applied(world) == {orders[0]["order_id"], orders[2]["order_id"]}
    assert world.rows("SELECT error FROM ledger.order_history")[0][0].startswith("CheckViolation (SQLSTATE 23514)")


def test_an_order_that_cannot_be_handed_over_stops_no_other(world):
    broken, good = world.place("MILK"), world.place("JAM")
    world.receive_events()
    no_json = CustomerCipher(world.app.context.settings.orders)._fernet.encrypt(b"{")
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE warehouse.order_customer SET encrypted = %s WHERE order_id = %s", (no_json, broken["order_id"])
        )
    counts = world.app.orders.hand_over()
    assert [document["order_id"] for document in world.documents()] == [good["order_id"]]
    (why,) = counts["failed"].values()
    assert why.startswith("JSONDecodeError in encryption.py")
