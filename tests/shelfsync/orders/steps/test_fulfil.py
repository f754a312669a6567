"""From a picking result to the platform: every row of 3.1, every fault in between, and no cancellation without a request."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import sqlalchemy as sa

from app_calls import Calls
from orders_world import added, not_found, picked, replaced

LATER = "2030-01-01T12:00:00Z"
VENDOR = {"transport_type": "VENDOR_DELIVERY"}
PICKUP = {"order_type": "PICKUP"}


def items(shown):
    return {item["sku"]: item["status"] for item in shown["items"]}


@pytest.mark.slow
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
    world.receive_events()
    assert world.report(order, "fulfil", picked("MILK")).status_code == 202
    world.until(order, "done")
    assert world.shown(order)["status"] == ends
    assert world.puts(order) == 1


@pytest.mark.slow
def test_vendor_delivery_is_accepted_with_its_time_and_dispatched_later(world):
    order = world.place("MILK", **VENDOR)
    world.receive_events()
    world.report(order, "accept", accepted_for=LATER)
    world.until(order, "done")
    assert (world.shown(order)["status"], world.shown(order)["accepted_for"][:19]) == ("ACCEPTED", LATER[:19])
    world.report(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    assert world.shown(order)["status"] == "DISPATCHED"


def test_a_whole_basket_goes_back_as_it_was_picked(world):
    order = world.place({"sku": "MILK", "quantity": 2}, "JAM", "HONEY", "CHEESE", "BREAD")
    world.receive_events()
    lines = [picked("MILK", quantity=1), not_found("JAM"), replaced("HONEY", "BREAD"), picked("CHEESE", weight=0.9)]
    lines = [{**line, "weight": "0.9"} if "weight" in line else line for line in lines]
    assert (
        world.report(order, "fulfil", *lines, picked("BREAD", unit_price="1.75"), added("JAM", quantity=2)).status_code
        == 202
    )
    world.until(order, "done")
    shown = world.shown(order)
    assert [(item["sku"], item["status"]) for item in shown["items"]] == [
        ("MILK", "IN_CART"), ("JAM", "NOT_FOUND"), ("HONEY", "REPLACED"), ("CHEESE", "IN_CART"), ("BREAD", "IN_CART"),
        ("BREAD", "IN_CART"), ("JAM", "ADDITION"),
    ]  # fmt: skip
    assert [shown["items"][place]["pricing"]["total_price"] for place in (0, 3)] == [1.5, 10.8]
    world.receive_events()
    rows = world.rows("SELECT sku, status, ordered_quantity IS NOT NULL FROM warehouse.order_item ORDER BY position")
    assert [tuple(row) for row in rows][-2:] == [("BREAD", "IN_CART", False), ("JAM", "ADDITION", False)]


def test_update_cart_comes_first_where_it_is_asked_for_and_its_feedback_is_shown(world):
    order = world.place({"sku": "MILK", "quantity": 2})
    world.receive_events()
    world.report(order, "fulfil", picked("MILK", quantity=1), check_first=True)
    last = world.until(order, "done")
    assert last["feedback"]["items"][0]["total_price"] == "1.5"
    assert world.puts(order) == 2


def test_a_check_changes_nothing_and_reports_the_feedback(world):
    order = world.place({"sku": "MILK", "quantity": 2})
    world.receive_events()
    world.report(order, "check", picked("MILK", quantity=1))
    last = world.until(order, "checked")
    assert last["feedback"]["items"][0]["quantity"] == "1"
    assert world.shown(order)["status"] == "RECEIVED"


def test_a_store_cancels_its_order_with_a_reason(world):
    order = world.place("MILK", "JAM")
    world.receive_events()
    assert world.report(order, "cancel", reason="CLOSED").status_code == 202
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
    world.receive_events()
    world.platform.faults(
        {"at": "put_order", "kind": kind, "times": 1, **({"seconds": 0.1} if kind == "never_answer" else {})}
    )
    world.report(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    assert (world.shown(order)["status"], items(world.shown(order))) == ("READY_FOR_PICKUP", {"MILK": "IN_CART"})
    assert world.puts(order) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["drop_answer", "status_502"])
def test_a_replica_that_lags_leads_to_no_harm(world, lost):
    order = world.place("MILK", **VENDOR)
    world.receive_events()
    world.platform.faults(
        {"at": "put_order", "kind": lost, "times": 1},
        {"at": "get_order", "kind": "stale", "times": 2},
        {"at": "order_webhook", "kind": "lost"},
    )
    world.report(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    assert world.shown(order)["status"] == "DISPATCHED"


@pytest.mark.slow
def test_an_answer_alone_is_not_believed(world):
    """The platform answers 200 and does nothing. The order has not changed, so it is read back and sent again."""
    order = world.place("MILK")
    world.receive_events()
    world.platform.faults({"at": "put_order", "kind": "not_applied", "times": 2})
    world.report(order, "fulfil", picked("MILK"))
    world.until(order, "done")
    assert world.puts(order) == 3


def test_a_result_for_an_order_cancelled_meanwhile_is_overtaken_and_the_store_gets_a_message(world):
    order = world.place("MILK")
    world.receive_events()
    world.platform.faults({"at": "order_webhook", "kind": "lost"})
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.report(order, "fulfil", picked("MILK"))
    last = world.until(order, "overtaken")
    assert "put the goods back" in last["messages"][0]


@pytest.mark.slow
def test_no_local_failure_cancels_an_order(world):
    """Everything fails for a while; the order stays what it is, and is fulfilled when the platform is back."""
    order = world.place("MILK")
    world.receive_events()
    world.platform.faults({"at": "put_order", "kind": "status_503"}, {"at": "get_order", "kind": "status_500"})
    world.report(order, "fulfil", picked("MILK"))
    for _ in range(4):
        world.tick()
    world.platform.faults()
    assert world.shown(order)["status"] == "RECEIVED"
    world.until(order, "done")
    assert world.shown(order)["status"] == "READY_FOR_PICKUP"


def test_a_rejection_by_the_platform_is_reported_and_the_order_is_unchanged(world):
    order = world.place("CHEESE")
    world.receive_events()
    settings = world.platform.control("GET", "settings")
    world.platform.control("PUT", "settings", {**settings, "order_weighing": "disabled"})
    world.report(order, "fulfil", picked("CHEESE", weight="0.9"))
    last = world.until(order, "rejected")
    assert last["rules"] == ["platform"]
    assert world.shown(order)["status"] == "RECEIVED"
    world.platform.control("PUT", "settings", settings)


def test_two_workers_at_once_send_it_once(world):
    order = world.place("MILK")
    world.receive_events()
    world.report(order, "fulfil", picked("MILK"))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: world.app.orders.fulfil(), range(4)))
    world.until(order, "done")
    assert world.puts(order) == 1


@pytest.mark.slow
def test_a_process_that_was_taken_for_dead_and_wakes_up_sends_nothing(world):
    """It hangs in a catalog request, another process takes over and finishes, and then the first process continues."""
    hangs, goes_on = threading.Event(), threading.Event()

    def slow():
        hangs.set()
        assert goes_on.wait(60)
        return world.app.context.open_platform()

    order = world.place("MILK")
    world.receive_events()
    world.report(order, "fulfil", picked("MILK"), added("JAM", quantity=1))
    frozen = Calls(replace(world.app.context, open_platform=slow))
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(frozen.orders.fulfil)
        assert hangs.wait(60)
        with world.app.context.engine.begin() as connection:
            connection.exec_driver_sql("UPDATE ledger.lease SET until_at = now()")
        world.until(order, "done")
        goes_on.set()
        assert late.result()["later"] == 1
    assert world.puts(order) == 1
    assert world.results(order)[-1]["state"] == "done"


def test_a_killed_process_delays_no_other(world):
    order = world.place("MILK")
    world.receive_events()
    world.report(order, "fulfil", picked("MILK"))
    with world.app.context.engine.begin() as connection:  # as it leaves the row behind: its session is gone
        connection.execute(
            sa.text(
                "INSERT INTO ledger.lease (vendor, number, holder, locked, until_at) "
                "VALUES (:name, nextval('ledger.lease_number'), 'gone', true, now() + interval '1 hour')"
            ),
            {"name": f"order:{order['order_id']}"},
        )
    world.until(order, "done")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            {"action": "fulfil", "items": [{"sku": "MILK", "status": "picked", "quantity": "two"}]},
            "line 1: quantity is no number",
        ),
        ({"action": "fulfil", "items": [{"sku": "MILK", "status": "found"}]}, "line 1: status must be one of"),
        ({"action": "fulfil", "itmes": []}, "there is no field 'itmes'"),
        ({"action": "ship"}, "action must be one of"),
        ({"action": "accept", "accepted_for": "noon"}, "accepted_for is no ISO 8601"),
        ({"action": "accept", "accepted_for": "2030-01-01T12:00"}, "with its zone"),
    ],
)
def test_an_invalid_result_is_rejected_by_the_endpoint(world, body, expected):
    order = world.place("MILK")
    answer = world.till.post(f"{world.receiver_url}/picking/{order['order_id']}", json=body)
    assert answer.status_code == 400
    assert any(expected in message for message in answer.json()["messages"])
    assert world.rows("SELECT count(*) FROM ledger.picking_result") == [(0,)]


@pytest.mark.parametrize("secret", [None, "", "canary-webhook-1", "canary-picking-Till"])
def test_only_the_picking_secret_is_accepted(world, secret):
    order = world.place("MILK")
    headers = {} if secret is None else {"Authorization": secret}
    import httpx

    for method in ("POST", "GET"):
        answer = httpx.request(
            method, f"{world.receiver_url}/picking/{order['order_id']}", headers=headers, json={}, trust_env=False
        )
        assert answer.status_code == 401
    assert world.rows("SELECT count(*) FROM ledger.picking_result") == [(0,)]
