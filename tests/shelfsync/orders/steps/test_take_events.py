"""From the inbox to orders: nothing is lost, nothing counts twice, and no customer data stays."""

from __future__ import annotations

import json

import httpx
import pytest

from orders_world import PHONE, SECRET
from shelfsync.orders.encryption import CustomerCipher
from shelfsync.orders.warehouse.record import encrypted_customer
from shelfsync.settings import OrdersSettings


def status(world, order):
    return world.rows("SELECT status FROM warehouse.customer_order WHERE order_id = :id", id=order["order_id"])


def test_an_order_with_its_items_and_prices_is_in_the_warehouse(world):
    order = world.place({"sku": "MILK", "quantity": 2}, "CHEESE")
    world.receive_events()
    assert status(world, order) == [("RECEIVED",)]
    rows = world.rows(
        "SELECT sku, status, quantity, weight, total_price, ordered_quantity FROM warehouse.order_item ORDER BY position"
    )
    assert [(row[0], row[1], float(row[2]), row[4]) for row in rows] == [
        ("MILK", "NOT_PROCESSED", 2, 3),
        ("CHEESE", "NOT_PROCESSED", 1, 12),
    ]
    assert (rows[0].weight, float(rows[1].weight)) == (None, 1.0)


def test_a_promotion_of_an_item_is_in_the_warehouse(world):
    body = _body(order_id="5b8e6f3c-1111-4222-8333-444455556666")
    body["items"][0]["promotion"] = [
        {
            "name": "March",
            "type": "STRIKETHROUGH",
            "discount_amount": 0.5,
            "sponsorships": [{"sponsor": "VENDOR", "amount": 0.4}],
        }
    ]
    assert _post(world, body) == 200
    world.app.orders.take()
    rows = world.rows("SELECT name, discount_amount, vendor_amount FROM warehouse.order_promotion")
    assert [(name, float(off), float(ours)) for name, off, ours in rows] == [("March", 0.5, 0.4)]


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "repeated"},
        {"kind": "reordered", "times": 1, "seconds": 0.2},
        {"kind": "late", "times": 1, "seconds": 0.2},
        {"kind": "early"},
        {"kind": "forged_secret"},
        {"kind": "lost", "times": 1},
    ],
    ids=lambda fault: fault["kind"],
)
def test_however_events_come_the_order_ends_as_it_is(world, fault):
    world.platform.faults({"at": "order_webhook", **fault})
    order = world.place("MILK")
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.receive_events()
    assert status(world, order) == [("CANCELLED",)]


def test_the_first_event_of_a_store_may_be_that_it_is_ready(world):
    assert _post(world, _body(status="READY_FOR_PICKUP")) == 200
    world.app.orders.take()
    assert world.rows("SELECT status FROM warehouse.customer_order") == [("READY_FOR_PICKUP",)]
    world.app.orders.hand_over()
    assert world.documents() == [], "it has been picked already"


def test_customer_data_is_encrypted_and_nowhere_else(world, tmp_path, caplog):
    caplog.set_level("DEBUG")
    order = world.place("MILK", comment=f"call {PHONE}", loyalty_program={"loyalty_card": PHONE})
    world.platform.until_quiescent()
    world.app.orders.take()
    assert not [line for line in caplog.messages if PHONE in line]
    assert _everything(world).count(PHONE) == 0
    encrypted = world.rows("SELECT encrypted FROM warehouse.order_customer")
    assert PHONE.encode() not in bytes(encrypted[0][0])
    with world.app.context.engine.connect() as connection:
        known = CustomerCipher(world.app.context.settings.orders).decrypt(
            encrypted_customer(connection, order["order_id"])
        )
    assert known["customer"]["phone_number"] == PHONE
    assert not [
        file for file in (tmp_path / "lake").rglob("*") if file.is_file() and PHONE.encode() in file.read_bytes()
    ]


def test_after_a_change_of_the_key_older_data_can_still_be_decrypted():
    old, new = (OrdersSettings(encryption_key=key * 16) for key in ("a", "b"))
    both = OrdersSettings(encryption_key="b" * 16, encryption_key_previous="a" * 16)
    encrypted = CustomerCipher(old).encrypt({"x": "y"})
    assert (CustomerCipher(both).decrypt(encrypted), CustomerCipher(new).decrypt(encrypted)) == ({"x": "y"}, {})


def test_without_a_key_a_customer_is_not_kept_at_all(make_world):
    world = make_world(orders={"encryption_key": None})
    world.place("MILK")
    world.receive_events()
    assert world.rows("SELECT count(*) FROM warehouse.order_customer") == [(0,)]
    assert PHONE not in _everything(world)


@pytest.mark.slow
def test_a_customer_is_forgotten_when_the_time_has_come(world):
    world.place("MILK")
    world.receive_events()
    assert world.app.orders.history(["store-001"])["forgotten"] == 0
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("SELECT set_config('shelfsync.instant', (now() + interval '31 days')::text, true)")
        from shelfsync.orders.warehouse.record import forget_customers

        assert forget_customers(connection) == 1
    assert world.rows("SELECT count(*) FROM warehouse.order_customer") == [(0,)]


def test_one_strange_body_stops_no_other(world):
    strange = _body(order_id="5b8e6f3c-0000-4222-8333-444455556666")
    strange["items"][0]["name"] = "\x00\ud800 milk"
    strange["items"][0]["pricing"]["unit_price"] = 1e300
    strange["order_code"] = "\x00"
    assert _post(world, strange) == 200
    order = world.place("MILK")
    world.receive_events()
    assert status(world, order) == [("RECEIVED",)]
    assert world.rows("SELECT count(*) FROM inbox.event WHERE processed_at IS NULL") == [(0,)]


def test_taking_again_changes_nothing(world):
    world.place("MILK")
    world.receive_events()
    before = _everything(world)
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE inbox.event SET processed_at = NULL")
    assert world.app.orders.take()["events"] == 1
    after = _everything(world)
    assert [line for line in before.splitlines() if "event" not in line] == [
        line for line in after.splitlines() if "event" not in line
    ]


def _body(**more):
    item = {"_id": "aaaaaaaa-0000-4000-8000-000000000001", "sku": "MILK", "name": "Milk", "status": "NOT_PROCESSED"}
    item["pricing"] = {
        "pricing_type": "UNIT",
        "quantity": 1,
        "unit_price": 1.5,
        "total_price": 1.5,
        "min_quantity": 1,
        "max_quantity": 2,
    }
    return {
        "order_id": "5b8e6f3c-2222-4222-8333-444455556666", "status": "RECEIVED", "transport_type": "LOGISTICS_DELIVERY", "order_type": "DELIVERY",
        "client": {"store_id": "store-001"}, "items": [item], "sys": {"created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T10:00:00Z"},
        **more,
    }  # fmt: skip


def _post(world, body):
    text = json.dumps(body)
    return httpx.post(
        f"{world.receiver_url}/webhook/orders", content=text, headers={"Authorization": SECRET}, trust_env=False
    ).status_code


def _everything(world) -> str:
    """Every row of every table but the encrypted one, as text."""
    tables = world.rows(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema IN ('inbox', 'ledger', 'warehouse') AND table_type = 'BASE TABLE' ORDER BY 1, 2"
    )
    lines = []
    for schema, name in tables:
        if name == "order_customer":
            continue
        query = (
            "SELECT event_id, kind, identity, convert_from(body, 'UTF8') FROM inbox.event"
            if name == "event"
            else f"SELECT t::text FROM {schema}.{name} t ORDER BY 1"
        )
        lines += [f"{schema}.{name} {tuple(row)}" for row in world.rows(query)]
    return "\n".join(lines)
