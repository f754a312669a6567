"""A customer can be forgotten at once, everywhere; the order stays, and no later version restores the customer."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from documents import data
from locks import wait_for_a_lock
from orders_world import KEY, PHONE, picked
from shelfsync.errors import ConfigurationError, DataError
from shelfsync.orders.encryption import CustomerCipher
from shelfsync.orders.steps import take_events

OTHER = "+447700900999"
ORDER = "5b8e6f3c-1111-4222-8333-44445555aaaa"


def placed(world, phone=PHONE):
    order = world.place(
        "MILK", transport_type="VENDOR_DELIVERY", customer={"first_name": "Robin", "phone_number": phone}
    )
    world.receive_events()
    return order


def traces(world, order, text=PHONE):
    """The places where the text of this order can be read with access to the whole installation."""
    cipher = CustomerCipher(world.app.context.settings.orders)
    found = []
    for order_id, encrypted in world.rows("SELECT order_id, encrypted FROM warehouse.order_customer"):
        if order_id == order["order_id"] and encrypted and text in json.dumps(cipher.decrypt(bytes(encrypted))):
            found.append("warehouse")
    for (body,) in world.rows("SELECT body FROM inbox.event"):
        if order["order_id"].encode() in bytes(body).lower() and text.encode() in bytes(body):
            found.append("inbox")
    found += ["folder" for file in world.folder.rglob("*") if file.is_file() and text in file.read_text()]
    return found


@pytest.mark.slow
def test_all_customer_data_of_the_order_is_removed_and_the_order_and_all_others_stay(world):
    order, other = placed(world), placed(world, OTHER)
    world.app.orders.hand_over()
    assert sorted(traces(world, order)) == ["folder", "warehouse"]
    counts = world.app.orders.forget([order["order_id"]])
    assert counts == {
        "orders": [order["order_id"]],
        "customers": 1,
        "events": 0,
        "documents": 1,
        "stores": ["store-001"],
    }
    assert traces(world, order) == []
    assert sorted(traces(world, other, OTHER)) == ["folder", "warehouse"]
    documents = {one["order_id"]: one for one in world.documents()}
    assert "customer" not in documents[order["order_id"]]
    assert (
        documents[order["order_id"]]["items"][0]["unit_price"] == documents[other["order_id"]]["items"][0]["unit_price"]
    )
    world.report(order, "fulfil", picked("MILK"))
    world.until(order, "done")  # the store's work goes on


@pytest.mark.slow
def test_nothing_that_comes_later_brings_the_customer_back(world):
    order = placed(world)
    world.app.orders.forget([order["order_id"]])
    world.app.orders.hand_over()  # reads the order back
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.receive_events()
    world.app.orders.history(["store-001"])
    assert world.rows("SELECT status FROM ledger.customer_order") == [("CANCELLED",)]
    assert traces(world, order) == []
    assert world.app.orders.orders_of(PHONE) == []


def test_unprocessed_and_unreadable_events_are_forgotten_too(world):
    order = world.place("MILK", customer={"first_name": "Robin", "phone_number": PHONE})
    world.platform.until_quiescent()  # not taken yet
    bodies = [
        b'{"order_id": "%s", "customer": {"phone_number": "%s"}' % (ORDER.upper().encode(), PHONE.encode()),
        b'{"event": "NEWS", "order": "%s", "who": "%s"}' % (ORDER.encode(), PHONE.encode()),
    ]
    with world.app.context.engine.begin() as connection:
        for number, body in enumerate(bodies):
            connection.execute(
                sa.text("INSERT INTO inbox.event (kind, identity, body) VALUES (:kind, :identity, :body)"),
                {"kind": ("order", "unknown")[number], "identity": f"x{number}", "body": body},
            )
    assert world.rows("SELECT count(*) FROM inbox.event WHERE position(:p in body) > 0", p=PHONE.encode()) == [(3,)]
    world.app.orders.forget([order["order_id"], ORDER])
    assert world.rows("SELECT count(*) FROM inbox.event WHERE position(:p in body) > 0", p=PHONE.encode()) == [(0,)]
    assert traces(world, order) == []


def test_a_document_that_is_written_later_has_no_customer(world):
    order = placed(world)
    world.app.orders.forget([order["order_id"]])
    world.app.orders.hand_over()
    assert [(one["order_id"], "customer" in one) for one in world.documents()] == [(order["order_id"], False)]


def test_a_file_that_the_store_has_taken_is_left_to_the_store_which_is_named(world):
    order = placed(world)
    world.app.orders.hand_over()
    for file in world.folder.rglob("*.json"):
        file.unlink()
    counts = world.app.orders.forget([order["order_id"]])
    assert (counts["documents"], counts["stores"]) == (0, ["store-001"])
    assert list(world.folder.rglob("*.json")) == []  # or the store would take it again


def test_in_an_outbox_taken_rows_are_stripped_too(make_world, postgres):
    url = postgres.create_database("outbox_forget").replace("postgresql://", "postgresql+psycopg://")
    world = make_world(orders={"hand_over": "outbox", "hand_over_url": url})
    order = placed(world)
    world.app.orders.hand_over()
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        assert PHONE in connection.execute(sa.text("SELECT document FROM shelfsync_order_outbox")).scalar_one()
        connection.execute(sa.text("UPDATE shelfsync_order_outbox SET taken_at = now()"))
    assert world.app.orders.forget([order["order_id"]])["documents"] == 1
    with engine.connect() as connection:
        text = connection.execute(sa.text("SELECT document FROM shelfsync_order_outbox")).scalar_one()
    engine.dispose()
    assert (PHONE in text, json.loads(text)["order_id"]) == (False, order["order_id"])


def test_twice_is_as_once(world):
    order = placed(world)
    world.app.orders.hand_over()
    world.app.orders.forget([order["order_id"]])
    counts = world.app.orders.forget([order["order_id"].upper()])
    assert (counts["customers"], counts["events"], counts["documents"]) == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("text", [PHONE, "+44 7700 900-123", "Robin"])
def test_a_customer_is_found_by_what_they_give(world, text):
    order = placed(world)
    expected = [order["order_id"]]
    if text == "Robin":
        expected = sorted([*expected, placed(world, OTHER)["order_id"]])
    else:
        placed(world, OTHER)
    assert sorted(world.app.orders.orders_of(text)) == expected


@pytest.mark.parametrize("text", ["(   ) -", "----", "( ) - 7", "    ", ""])
def test_separators_alone_find_no_customer(world, here, text):
    """They would be found in every customer, because separators do not matter."""
    order = placed(world)
    with pytest.raises(DataError, match="at least 4 characters"):
        world.app.orders.orders_of(text)
    code, _, error = here("forget", "--customer", text, "--force")
    assert (code, "give at least 4 characters" in error) == (2, True)
    assert traces(world, order) == ["warehouse"]


def test_without_the_key_no_customer_can_be_found(make_world):
    world = make_world(orders={"encryption_key": None})
    with pytest.raises(ConfigurationError, match="ENCRYPTION_KEY"):
        world.app.orders.orders_of(PHONE)


@pytest.mark.slow
def test_the_command_asks_and_reports_what_it_removed(world, run):
    order = placed(world)
    asked = run("forget", "--customer", PHONE)
    assert asked.returncode != 0
    assert order["order_id"] in asked.stderr
    assert traces(world, order) == ["warehouse"]
    done = run("forget", "--customer", PHONE, "--force", "--json")
    assert (done.returncode, data(done.stdout)["customers"]) == (0, 1), done.stderr
    assert PHONE not in done.stdout + done.stderr
    assert traces(world, order) == []
    again = run("forget", "--customer", PHONE, "--force")
    assert (again.returncode, "nothing was removed" in again.stderr) == (DataError.exit_code, True)
    assert run("forget", "--force").returncode == 2
    assert run("forget", "--customer", "12", "--force").returncode == 2
    assert KEY not in done.stdout + done.stderr


@pytest.mark.slow
def test_a_stores_secret_is_shown_by_a_command(world, run):
    shown = run("secret", "store-001")
    assert (shown.returncode, "SHELFSYNC_ORDERS__PICKING_SECRET: is not set" in shown.stderr) == (3, True)


def test_a_customer_is_forgotten_while_an_event_of_the_order_is_applied(world, monkeypatch):
    """Both lock the event and the order; in different sequences, the database would end one of them."""
    order = placed(world)
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.platform.until_quiescent()
    applied, forgetting = take_events._applied, []
    with ThreadPoolExecutor(1) as pool:

        def applied_meanwhile(context, connection, rows, cipher):
            if rows and not forgetting:
                forgetting.append(pool.submit(world.app.orders.forget, [order["order_id"]]))
                wait_for_a_lock(world.app.context.engine)
            return applied(context, connection, rows, cipher)

        monkeypatch.setattr(take_events, "_applied", applied_meanwhile)
        assert world.app.orders.take() == {"events": 1, "quarantined": 0, "orders": 1}
        assert forgetting[0].result(20)["customers"] == 1
    assert traces(world, order) == []
    assert world.rows("SELECT status FROM ledger.customer_order") == [("CANCELLED",)]
