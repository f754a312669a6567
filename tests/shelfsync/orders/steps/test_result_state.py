"""The platform may apply only part of a request: a more expensive replacement is neither blocked nor applied (interface.md 4.8.7)."""

from __future__ import annotations

import pytest

from order_picker import ASSORTMENT, STORE
from orders_world import added, picked, replaced


@pytest.fixture
def expensive_replacement(world):
    """An order whose replacement became more expensive after its price was read from the store's catalog."""
    order = world.place("MILK", "JAM")
    world.receive_events()
    world.report(order, "check", picked("MILK"), replaced("JAM", "BREAD"))
    world.until(order, "checked")
    world.platform.put_products(STORE, [row | {"price": 99} if row["sku"] == "BREAD" else row for row in ASSORTMENT])
    yield world, order
    world.platform.put_products(STORE, ASSORTMENT)


@pytest.mark.slow
def test_a_replacement_that_the_platform_does_not_apply_is_reported_to_the_store(expensive_replacement):
    world, order = expensive_replacement
    world.report(order, "fulfil", picked("MILK"), replaced("JAM", "BREAD"))
    last = world.until(order, "done")
    assert set(last["rules"]) == {"not_reflected"}
    assert "JAM (Jam) was to be replaced by BREAD" in last["messages"][0]
    assert [item["sku"] for item in world.shown(order)["items"]] == ["MILK", "JAM"]
    world.tick()
    assert world.documents()[-1]["messages"] == last["messages"]


def test_with_a_check_first_no_request_is_sent_that_the_platform_would_not_apply(expensive_replacement):
    world, order = expensive_replacement
    world.report(order, "fulfil", picked("MILK"), replaced("JAM", "BREAD"), check_first=True)
    last = world.until(order, "rejected")
    assert set(last["rules"]) == {"not_reflected"}
    assert world.shown(order)["status"] == "RECEIVED"


@pytest.mark.slow
def test_a_result_that_was_applied_in_full_has_no_messages(world):
    order = world.place({"sku": "MILK", "quantity": 2}, "CHEESE", "HONEY")
    world.receive_events()
    lines = [picked("MILK", quantity=1), picked("CHEESE", weight="0.75"), replaced("HONEY", "JAM")]
    world.report(order, "fulfil", *lines, added("BREAD", quantity=2), added("MILK", quantity=1), check_first=True)
    assert world.until(order, "done")["rules"] == []


def test_an_order_fulfilled_differently_in_the_portal_is_reported(world):
    """The request was lost, and a user of the portal ended the picking with other pieces."""
    order = world.place({"sku": "MILK", "quantity": 2})
    world.receive_events()
    world.platform.faults({"at": "put_order", "kind": "refuse_connection", "times": 4})
    world.report(order, "fulfil", picked("MILK", quantity=1))
    world.tick()
    world.platform.faults()
    if world.results(order)[-1]["state"] != "sending":
        pytest.fail(str(world.results(order)))
    item = order["items"][0]
    body = {"order_id": order["order_id"], "status": "READY_FOR_PICKUP"}
    body["items"] = [{"_id": item["_id"], "sku": "MILK", "status": "IN_CART", "pricing": {"quantity": 2}}]
    with world.platform.partner() as portal:
        assert portal.put(f"/v2/chains/demo-chain/orders/{order['order_id']}", json=body).status_code == 200
    last = world.until(order, "done")
    assert last["messages"] == ["MILK (Milk 1 l): 2 pieces are in the platform's order, and 1 were picked."]


@pytest.mark.slow
def test_an_order_that_the_platform_no_longer_knows_is_not_requested_for_ever(world):
    order = world.place("MILK")
    world.receive_events()
    world.platform.control("POST", "reset")
    world.set_up()
    world.report(order, "fulfil", picked("MILK"))
    for _ in range(3):
        world.tick()
    assert world.results(order)[-1]["state"] == "sending", "it may be a moment of the platform's"
    with world.app.context.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.picking_result SET postponements = 20")
    assert world.until(order, "rejected")["rules"] == ["unknown_order"]
