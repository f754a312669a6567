"""From a store's word to the platform: every row of 3.1, every fault in between, and never a cancellation that nobody asked for."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa

from orders_world import added, not_found, picked, replaced
from shelfsync.wiring import House

LATER = "2030-01-01T12:00:00Z"
VENDOR = {"transport_type": "VENDOR_DELIVERY"}
PICKUP = {"order_type": "PICKUP"}


def items(shown):
    return {item["sku"]: item["status"] for item in shown["items"]}


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ({}, "READY_FOR_PICKUP"),
        (PICKUP, "READY_FOR_PICKUP"),
        (VENDOR, "DISPATCHED"),
        ({**VENDOR, **PICKUP}, "READY_FOR_PICKUP"),
    ],
    ids=["platform", "pickup", "vendor", "vendor-pickup"],
)
def test_an_order_is_fulfilled_by_the_status_of_its_transport_and_type(world, options, ends):
    order = world.place("MILK", **options)
    world.heard()
    assert world.say(order, "fulfil", picked("MILK")).status_code == 202
    world.until(order, "done")
    assert world.shown(order)["status"] == ends
    assert world.puts(order) == 1


def test_vendor_delivery_is_accepted_with_its_time_and_dispatched_later(world):
    order = world.place("MILK", **VENDOR)
    world.heard()
    world.say(order, "accept", accepted_for=LATER)
    world.until(order, "done")
    assert (world.shown(order)["status"], world.shown(order)["accepted_for"][:19]) == ("ACCEPTED", LATER[:19])
    world.say(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    assert world.shown(order)["status"] == "DISPATCHED"


def test_a_whole_basket_goes_back_as_it_was_picked(world):
    order = world.place({"sku": "MILK", "quantity": 2}, "JAM", "HONEY", "CHEESE", "BREAD")
    world.heard()
    lines = [picked("MILK", quantity=1), not_found("JAM"), replaced("HONEY", "BREAD"), picked("CHEESE", weight=0.9)]
    lines = [{**line, "weight": "0.9"} if "weight" in line else line for line in lines]
    assert (
        world.say(order, "fulfil", *lines, picked("BREAD", unit_price="1.75"), added("JAM", quantity=2)).status_code
        == 202
    )
    world.until(order, "done")
    shown = world.shown(order)
    assert [(item["sku"], item["status"]) for item in shown["items"]] == [
        ("MILK", "IN_CART"), ("JAM", "NOT_FOUND"), ("HONEY", "REPLACED"), ("CHEESE", "IN_CART"), ("BREAD", "IN_CART"),
        ("BREAD", "IN_CART"), ("JAM", "ADDITION"),
    ]  # fmt: skip
    assert [shown["items"][place]["pricing"]["total_price"] for place in (0, 3)] == [1.5, 10.8]
    world.heard()
    rows = world.rows("SELECT sku, status, ordered_quantity IS NOT NULL FROM warehouse.order_item ORDER BY position")
    assert [tuple(row) for row in rows][-2:] == [("BREAD", "IN_CART", False), ("JAM", "ADDITION", False)]


def test_update_cart_comes_first_where_it_is_asked_for_and_its_feedback_is_shown(world):
    order = world.place({"sku": "MILK", "quantity": 2})
    world.heard()
    world.say(order, "fulfil", picked("MILK", quantity=1), check_first=True)
    last = world.until(order, "done")
    assert last["feedback"]["items"][0]["total_price"] == "1.5"
    assert world.puts(order) == 2


def test_a_check_changes_nothing_and_tells_what_would_be(world):
    order = world.place({"sku": "MILK", "quantity": 2})
    world.heard()
    world.say(order, "check", picked("MILK", quantity=1))
    last = world.until(order, "checked")
    assert last["feedback"]["items"][0]["quantity"] == "1"
    assert world.shown(order)["status"] == "RECEIVED"


def test_a_store_cancels_by_its_own_word_with_its_reason(world):
    order = world.place("MILK", "JAM")
    world.heard()
    assert world.say(order, "cancel", reason="CLOSED").status_code == 202
    world.until(order, "done")
    shown = world.shown(order)
    assert (shown["status"], shown["cancellation"]["reason"]) == ("cancelled", "CLOSED")


@pytest.mark.parametrize(
    "kind",
    [
        "drop_answer",
        "half_body",
        "refuse_connection",
        "never_answer",
        "not_applied",
        "status_500",
        pytest.param("status_429", marks=pytest.mark.slow),
        "token_expired",
    ],
)
def test_whatever_becomes_of_the_request_the_order_is_fulfilled_once(world, kind):
    order = world.place("MILK")
    world.heard()
    world.platform.faults(
        {"at": "put_order", "kind": kind, "times": 1, **({"seconds": 0.1} if kind == "never_answer" else {})}
    )
    world.say(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    assert (world.shown(order)["status"], items(world.shown(order))) == ("READY_FOR_PICKUP", {"MILK": "IN_CART"})
    assert world.puts(order) <= 2


@pytest.mark.parametrize("lost", ["drop_answer", "status_502"])
def test_a_replica_that_lags_leads_to_no_harm(world, lost):
    order = world.place("MILK", **VENDOR)
    world.heard()
    world.platform.faults(
        {"at": "put_order", "kind": lost, "times": 1},
        {"at": "get_order", "kind": "stale", "times": 2},
        {"at": "order_webhook", "kind": "lost"},
    )
    world.say(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    assert world.shown(order)["status"] == "DISPATCHED"


def test_an_answer_alone_is_not_believed(world):
    """The platform answers as asked for and does nothing; the order has not moved, so it is asked for and sent again."""
    order = world.place("MILK")
    world.heard()
    world.platform.faults({"at": "put_order", "kind": "not_applied", "times": 2})
    world.say(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    assert world.puts(order) == 3


def test_an_order_that_was_cancelled_meanwhile_is_overtaken_and_the_store_is_told_to_put_it_back(world):
    order = world.place("MILK")
    world.heard()
    world.platform.faults({"at": "order_webhook", "kind": "lost"})
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.say(order, "fulfil", picked("MILK"))
    last = world.until(order, "overtaken")
    assert "put the goods back" in last["messages"][0]


@pytest.mark.slow
def test_no_failure_of_ours_cancels(world):
    """Everything fails for a while; the order stays what it is, and is fulfilled when the platform is back."""
    order = world.place("MILK")
    world.heard()
    world.platform.faults({"at": "put_order", "kind": "status_503"}, {"at": "get_order", "kind": "status_500"})
    world.say(order, "fulfil", picked("MILK"))
    for _ in range(4):
        world.tick()
    world.platform.faults()
    assert world.shown(order)["status"] == "RECEIVED"
    world.until(order, "done")
    assert world.shown(order)["status"] == "READY_FOR_PICKUP"


def test_what_the_platform_refuses_is_told_and_the_order_is_as_it_was(world):
    order = world.place("CHEESE")
    world.heard()
    settings = world.platform.control("GET", "settings")
    world.platform.control("PUT", "settings", {**settings, "order_weighing": "disabled"})
    world.say(order, "fulfil", picked("CHEESE", weight="0.9"))
    last = world.until(order, "refused")
    assert last["rules"] == ["platform"]
    assert world.shown(order)["status"] == "RECEIVED"
    world.platform.control("PUT", "settings", settings)


def test_a_result_for_an_order_of_which_no_event_came_asks_the_platform(world):
    world.platform.faults({"at": "order_webhook", "kind": "lost"})
    order = world.place("MILK")
    world.say(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    assert world.shown(order)["status"] == "READY_FOR_PICKUP"


def test_a_result_for_no_order_at_all_is_refused(world):
    nobody = {"order_id": "5b8e6f3c-1111-4222-8333-444455556666"}
    world.say(nobody, "fulfil", picked("MILK"))
    assert world.until(nobody, "refused")["rules"] == ["unknown_order"]


def test_a_repeated_result_is_known_and_sent_once(world):
    order = world.place("MILK")
    world.heard()
    answers = [world.say(order, "fulfil", picked("MILK"), result_id="till-1").status_code for _ in range(3)]
    world.until(order, "done")
    assert answers == [202, 200, 200]
    assert world.puts(order) == 1
    other = world.say(order, "fulfil", not_found("MILK"), result_id="till-1")
    assert (other.status_code, "result_id of its own" in other.text) == (409, True)


def test_two_workers_at_once_send_it_once(world):
    order = world.place("MILK")
    world.heard()
    world.say(order, "fulfil", picked("MILK"))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: world.house.orders.fulfil(), range(4)))
    world.until(order, "done")
    assert world.puts(order) == 1


def test_a_process_that_was_taken_for_dead_and_wakes_up_sends_nothing(world):
    """It hangs in a look at the catalog, is taken over, and goes on when the other one has done it all."""
    hangs, goes_on = threading.Event(), threading.Event()

    def slow():
        hangs.set()
        assert goes_on.wait(60)
        return world.house.parts.open_platform()

    order = world.place("MILK")
    world.heard()
    world.say(order, "fulfil", picked("MILK"), added("JAM", quantity=1))
    frozen = House(replace(world.house.parts, open_platform=slow))
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(frozen.orders.fulfil)
        assert hangs.wait(60)
        with world.house.parts.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE ledger.lease SET until_at = now()")
        world.until(order, "done")
        goes_on.set()
        assert late.result()["later"] == 1
    assert world.puts(order) == 1
    assert world.told(order)[-1]["state"] == "done"


def test_a_process_that_was_killed_keeps_nobody_waiting(world):
    order = world.place("MILK")
    world.heard()
    world.say(order, "fulfil", picked("MILK"))
    with world.house.parts.engine.begin() as connection:  # as it leaves the row behind: its session is gone
        connection.execute(
            sa.text(
                "INSERT INTO ledger.lease (vendor, number, holder, locked, until_at) "
                "VALUES (:name, nextval('ledger.lease_number'), 'gone', true, now() + interval '1 hour')"
            ),
            {"name": f"order:{order['order_id']}"},
        )
    world.until(order, "done")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            {"action": "fulfil", "items": [{"sku": "MILK", "status": "picked", "quantity": "two"}]},
            "line 1: quantity is no number",
        ),
        ({"action": "fulfil", "items": [{"sku": "MILK", "status": "found"}]}, "line 1: status must be one of"),
        ({"action": "fulfil", "itmes": []}, "there is no field 'itmes'"),
        ({"action": "ship"}, "action must be one of"),
        ({"action": "accept", "accepted_for": "noon"}, "accepted_for is no ISO 8601"),
    ],
)
def test_a_result_without_a_form_is_refused_at_the_door(world, body, said):
    order = world.place("MILK")
    answer = world.till.post(f"{world.receiver_url}/picking/{order['order_id']}", json=body)
    assert answer.status_code == 400
    assert any(said in message for message in answer.json()["messages"])
    assert world.rows("SELECT count(*) FROM ledger.picking_result") == [(0,)]


@pytest.mark.parametrize("secret", [None, "", "canary-webhook-1", "canary-picking-Till"])
def test_only_the_picking_secret_opens_the_door(world, secret):
    order = world.place("MILK")
    headers = {} if secret is None else {"Authorization": secret}
    import httpx

    for method in ("POST", "GET"):
        answer = httpx.request(
            method, f"{world.receiver_url}/picking/{order['order_id']}", headers=headers, json={}, trust_env=False
        )
        assert answer.status_code == 401
    assert world.rows("SELECT count(*) FROM ledger.picking_result") == [(0,)]
