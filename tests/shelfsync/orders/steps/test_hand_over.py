"""Hand-over to the store: at least once, with a number, never in a wrong state, with only the customer data that it needs."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import sqlalchemy as sa

from orders_world import PHONE, change, picked
from shelfsync.errors import ConfigurationError
from shelfsync.orders.steps.hand_over import hand_over


def kinds(world):
    return [(document["kind"], document["order_id"]) for document in world.documents()]


def test_a_new_order_and_its_cancellation_reach_the_store_in_this_order(world):
    order = world.place({"sku": "MILK", "quantity": 2})
    world.receive_events()
    world.app.orders.hand_over()
    (document,) = world.documents()
    assert (document["kind"], document["order_code"], document["fulfilled_with"]) == (
        "new",
        order["order_code"],
        "READY_FOR_PICKUP",
    )
    assert (document["items"][0]["sku"], document["items"][0]["quantity"], document["items"][0]["max_quantity"]) == (
        "MILK",
        2,
        4,
    )
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.receive_events()
    world.app.orders.hand_over()
    assert kinds(world) == [("new", order["order_id"]), ("cancelled", order["order_id"])]


def test_running_again_hands_nothing_over_twice(world):
    world.place("MILK")
    world.receive_events()
    reports = [world.app.orders.hand_over() for _ in range(3)]
    assert [(one["planned"], one["written"]) for one in reports] == [(1, 1), (0, 0), (0, 0)]


def test_an_order_whose_newest_status_is_not_in_the_interface_reaches_its_store(world):
    """The platform may report more than its interface names; the customer waits for the goods all the same."""
    order = world.place("MILK")
    world.platform.until_quiescent()
    later = (dt.datetime.now(dt.UTC) + dt.timedelta(minutes=5)).isoformat()
    shown = world.shown(order)
    body = shown | {"status": "PREPARING", "sys": {**shown["sys"], "updated_at": later}}
    world.send_event(body)
    assert world.app.orders.take()["events"] == 2
    world.app.orders.hand_over()
    assert kinds(world) == [("new", order["order_id"])]
    world.report(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    assert world.shown(order)["status"] == "READY_FOR_PICKUP"


def test_an_order_whose_cancellation_was_lost_is_not_handed_over_because_it_is_read_back(world):
    world.platform.faults({"at": "order_webhook", "kind": "lost", "after": 1})
    order = world.place("MILK")
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.receive_events()
    world.app.orders.hand_over()
    assert kinds(world) == []
    assert world.rows("SELECT state FROM ledger.hand_over") == [("dropped",)]


def test_an_order_known_from_the_history_is_still_read_back(world):
    world.platform.faults({"at": "order_webhook", "kind": "lost"})
    order = world.place("MILK", ago_s=30)
    world.app.orders.history(["store-001"])
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.app.orders.hand_over()
    assert kinds(world) == []
    assert world.rows("SELECT state FROM ledger.hand_over") == [("dropped",)]


def test_an_order_that_was_read_back_just_now_to_learn_its_store_is_not_read_back_again(world):
    world.platform.faults({"at": "order_webhook", "kind": "other_vendor"})
    world.place("MILK", vendor="store-001")
    world.receive_events()
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.customer_order SET vendor = NULL"))
    assert world.app.orders.hand_over()["written"] == 1
    assert len([one for one in world.platform.journal()["entries"] if one["operation"] == "get_order"]) == 1


def test_an_order_whose_event_names_another_store_reaches_its_own(world):
    world.platform.faults({"at": "order_webhook", "kind": "other_vendor"})
    world.place("MILK", vendor="store-001")
    world.receive_events()
    assert world.rows("SELECT vendor FROM ledger.customer_order") == [("store-002",)]
    world.app.orders.hand_over()
    assert [document["vendor"] for document in world.documents()] == ["store-001"]


def test_without_an_answer_from_the_platform_a_new_order_waits_and_the_alarm_says_so(make_world):
    world = make_world(orders={"take_within_s": 0.001})
    world.platform.faults({"at": "get_order", "kind": "status_503", "times": 3})
    world.place("MILK")
    world.receive_events()
    assert world.app.orders.hand_over()["written"] == 0
    (alarm,) = world.app.orders.watch_stores()
    assert (
        "store-001: 1 orders are not taken, the oldest for 0 minutes: they could not be handed over: get_order" in alarm
    )
    world.platform.faults()
    assert world.app.orders.hand_over()["written"] == 1


def test_an_order_unknown_to_the_platform_delays_no_other(world):
    """For example a test of the platform's support: its event arrives, and its store stays unknown."""
    order = world.place("MILK")
    world.receive_events()
    change(world, "UPDATE ledger.customer_order SET vendor = NULL")
    change(
        world,
        "INSERT INTO ledger.customer_order (order_id, status, first_seen_at) VALUES (:id, 'RECEIVED', now() - interval '1 minute')",
        id="00000000-0000-4000-8000-000000000000",
    )
    assert world.app.orders.hand_over()["written"] == 1
    assert [document["order_id"] for document in world.documents()] == [order["order_id"]]
    world.app.orders.hand_over()
    asked = [one for one in world.platform.journal()["entries"] if one["operation"] == "get_order"]
    assert len(asked) == 2, "after a failed request, it waits as after an answer"


@pytest.mark.slow
def test_an_order_that_the_platform_cannot_answer_for_goes_behind_the_others(world):
    for _ in range(2):
        world.place("MILK")
    world.receive_events()
    change(world, "UPDATE ledger.customer_order SET vendor = NULL")
    ((first,), (second,)) = world.rows("SELECT order_id FROM ledger.customer_order ORDER BY first_seen_at")
    world.platform.faults({"at": "get_order", "kind": "status_500", "times": 3})
    assert world.app.orders.hand_over()["planned"] == 0
    world.platform.faults({"at": "get_order", "kind": "status_500", "after": 1})
    world.app.orders.hand_over()
    assert world.rows("SELECT order_id FROM ledger.customer_order WHERE vendor IS NOT NULL") == [(second,)]
    world.platform.faults()
    world.app.orders.hand_over()
    assert {document["order_id"] for document in world.documents()} == {first, second}


def test_a_failed_request_for_the_vendor_does_not_replace_the_read_back(world):
    order = world.place("MILK")
    world.receive_events()
    change(world, "UPDATE ledger.customer_order SET vendor = NULL")
    world.platform.faults({"at": "get_order", "kind": "status_404"})
    assert world.app.orders.hand_over()["planned"] == 0
    world.platform.faults()
    change(world, "UPDATE ledger.customer_order SET vendor = 'store-001'")
    before = len(world.platform.journal()["entries"])
    assert world.app.orders.hand_over()["written"] == 1
    entries = world.platform.journal()["entries"][before:]
    assert [one["operation"] for one in entries] == ["get_order"], order


@pytest.mark.slow
def test_the_pause_before_a_new_order_is_asked_for_again_doubles_to_five_minutes(make_world):
    world = make_world(orders={"retry_first_s": 10})
    world.place("MILK")
    world.receive_events()
    world.platform.faults({"at": "get_order", "kind": "status_404"})
    pauses = []
    for _ in range(7):
        change(world, "UPDATE ledger.hand_over SET next_try_at = NULL")
        assert len(world.app.orders.hand_over()["failed"]) == 1
        ((pause,),) = world.rows("SELECT extract(epoch FROM next_try_at - now()) FROM ledger.hand_over")
        pauses.append(round(float(pause), -1))
    assert pauses == [10, 20, 40, 80, 160, 300, 300]
    world.platform.faults()
    change(world, "UPDATE ledger.hand_over SET next_try_at = NULL")
    assert world.app.orders.hand_over()["written"] == 1


def test_where_requests_are_scarce_a_new_order_is_not_read_back(make_world):
    world = make_world(orders={"read_new": False})
    world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    assert len(world.documents()) == 1
    assert not [one for one in world.platform.journal()["entries"] if one["operation"] == "get_order"]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["files", "outbox"])
def test_what_a_store_never_takes_hides_nothing_that_another_takes(make_world, tmp_path, way):
    """A store that needs no replies may leave them for months."""
    url = f"sqlite:///{tmp_path / 'erp.sqlite'}"
    world = make_world(orders={"hand_over": way} | ({"hand_over_url": url} if way == "outbox" else {}))
    for _ in range(5):
        world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    ((last,),) = world.rows("SELECT max(hand_over_id) FROM ledger.hand_over")
    if way == "outbox":
        erp = sa.create_engine(url)
        with erp.begin() as connection:
            connection.execute(sa.text("DELETE FROM shelfsync_order_outbox WHERE hand_over_id = :last"), {"last": last})
        erp.dispose()
    else:
        (file,) = world.folder.glob(f"*/*{last}-new.json")
        file.unlink()
    assert hand_over(world.app.context, at_once=2)["taken"] == 1
    assert world.rows("SELECT hand_over_id FROM ledger.hand_over WHERE state = 'taken'") == [(last,)]


@pytest.mark.slow
def test_a_run_hands_over_so_many_and_the_next_one_the_rest(world):
    for _ in range(3):
        world.place("MILK")
    world.receive_events()
    assert [hand_over(world.app.context, at_once=2)["written"] for _ in range(3)] == [2, 1, 0]


@pytest.mark.parametrize(
    ("options", "knows"),
    [
        ({}, set()),
        ({"order_type": "PICKUP"}, {"first_name", "last_name"}),
        ({"transport_type": "VENDOR_DELIVERY"}, {"phone_number", "delivery_address"}),
    ],
    ids=["platform", "pickup", "vendor"],
)
def test_a_store_receives_only_the_customer_data_that_it_needs(world, options, knows):
    world.place("MILK", comment="no plastic bags", **options)
    world.receive_events()
    world.app.orders.hand_over()
    (document,) = world.documents()
    customer_data = document.get("customer", {})
    assert knows <= set(customer_data.get("customer", {}))
    assert (PHONE in json.dumps(document)) == (options.get("transport_type") == "VENDOR_DELIVERY")
    assert customer_data["comment"] == "no plastic bags"


def test_a_setting_withholds_all_customer_data(make_world):
    world = make_world(orders={"hand_over_customer": False})
    world.place("MILK", transport_type="VENDOR_DELIVERY")
    world.receive_events()
    world.app.orders.hand_over()
    assert "customer" not in world.documents()[0]


def test_the_store_receives_the_outcome_of_its_result(world):
    order = world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    world.report(order, "fulfil", picked("MILK", quantity=9), result_id="till-9")
    world.tick()
    reply = world.documents()[-1]
    assert (reply["kind"], reply["result_id"], reply["state"], reply["rules"]) == (
        "reply",
        "till-9",
        "rejected",
        ["quantity"],
    )
    assert "9 pieces are more than the 2 that are allowed" in reply["messages"][0]


def test_the_age_of_what_no_store_takes_is_one_alarm(make_world):
    world = make_world(orders={"take_within_s": 0.001})
    world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    alarms = [world.app.orders.watch_stores() for _ in range(2)]
    assert [len(one) for one in alarms] == [1, 0]
    assert "store-001: 1 orders are not taken" in alarms[0][0]
    for file in world.folder.glob("*/*.json"):
        file.unlink()
    world.app.orders.hand_over()
    assert world.app.orders.watch_stores() == []
    assert world.app.orders.today()["alarms"] == []


def test_an_outbox_table_is_made_filled_once_and_read_for_what_is_taken(make_world, tmp_path):
    url = f"sqlite:///{tmp_path / 'erp.sqlite'}"
    world = make_world(orders={"hand_over": "outbox", "hand_over_url": url})
    order = world.place("MILK")
    world.receive_events()
    world.app.orders.hand_over()
    world.app.orders.hand_over()
    erp = sa.create_engine(url)
    with erp.begin() as connection:
        rows = connection.execute(
            sa.text("SELECT hand_over_id, order_id, kind, document FROM shelfsync_order_outbox")
        ).all()
        assert [(row.order_id, row.kind, json.loads(row.document)["hand_over_id"]) for row in rows] == [
            (order["order_id"], "new", rows[0].hand_over_id)
        ]
        connection.execute(sa.text("UPDATE shelfsync_order_outbox SET taken_at = '2026-01-01'"))
    assert world.app.orders.hand_over()["taken"] == 1
    erp.dispose()


def test_a_signed_call_is_repeated_with_the_same_number_until_the_store_has_it(make_world):
    got = []

    class Till(BaseHTTPRequestHandler):
        def do_POST(self):
            got.append((dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(503 if len(got) == 1 else 204)
            self.end_headers()

        def log_message(self, *_):
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Till)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/orders"
    world = make_world(orders={"hand_over": "http", "hand_over_url": url, "hand_over_secret": "shared by all of us"})
    world.place("MILK")
    world.receive_events()
    reports = [world.app.orders.hand_over() for _ in range(2)]
    server.shutdown()
    server.server_close()
    assert ([len(one["failed"]) for one in reports], [one["written"] for one in reports]) == ([1, 0], [0, 1])
    assert len({headers["X-Shelfsync-Hand-Over"] for headers, _ in got}) == 1
    headers, body = got[-1]
    at, signature = (part.split("=", 1)[1] for part in headers["X-Shelfsync-Signature"].split(","))
    assert hmac.compare_digest(
        signature, hmac.new(b"shared by all of us", f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    )
    assert world.rows("SELECT state FROM ledger.hand_over") == [("taken",)]


def test_orders_are_not_sent_without_tls(make_world):
    world = make_world(
        orders={
            "hand_over": "http",
            "hand_over_url": "http://till.example/orders",
            "hand_over_secret": "shared by all of us",
        }
    )
    with pytest.raises(ConfigurationError, match="HAND_OVER_URL"):
        world.app.orders.hand_over()
