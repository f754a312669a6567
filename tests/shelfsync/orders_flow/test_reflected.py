"""The platform may take a request and not do all of it: a dearer replacement is neither blocked nor reflected (interface.md 4.8.7)."""

from __future__ import annotations

import pytest

from order_desk import ASSORTMENT, STORE
from orders_world import added, picked, replaced


@pytest.fixture
def dearer(world):
    """An order whose replacement became dearer after the store's catalog was asked for it."""
    order = world.place("MILK", "JAM")
    world.heard()
    world.say(order, "check", picked("MILK"), replaced("JAM", "BREAD"))
    world.until(order, "checked")
    world.platform.put_products(STORE, [row | {"price": 99} if row["sku"] == "BREAD" else row for row in ASSORTMENT])
    yield world, order
    world.platform.put_products(STORE, ASSORTMENT)


def test_a_replacement_that_the_platform_does_not_take_over_is_told_to_the_store(dearer):
    world, order = dearer
    world.say(order, "fulfil", picked("MILK"), replaced("JAM", "BREAD"))
    last = world.until(order, "done")
    assert set(last["rules"]) == {"not_reflected"}
    assert "JAM (Jam) was to be replaced by BREAD" in last["messages"][0]
    assert [item["sku"] for item in world.shown(order)["items"]] == ["MILK", "JAM"]
    world.tick()
    assert world.papers()[-1]["messages"] == last["messages"]


def test_where_the_platform_is_asked_first_nothing_is_sent_that_it_would_not_take_over(dearer):
    world, order = dearer
    world.say(order, "fulfil", picked("MILK"), replaced("JAM", "BREAD"), check_first=True)
    last = world.until(order, "refused")
    assert set(last["rules"]) == {"not_reflected"}
    assert world.shown(order)["status"] == "RECEIVED"


def test_what_was_done_as_said_has_nothing_to_tell(world):
    order = world.place({"sku": "MILK", "quantity": 2}, "CHEESE", "HONEY")
    world.heard()
    lines = [picked("MILK", quantity=1), picked("CHEESE", weight="0.75"), replaced("HONEY", "JAM")]
    world.say(order, "fulfil", *lines, added("BREAD", quantity=2), added("MILK", quantity=1), check_first=True)
    assert world.until(order, "done")["rules"] == []


def test_an_order_that_somebody_fulfilled_otherwise_meanwhile_is_not_taken_for_ours(world):
    """Our request was lost, and in the partner's portal somebody ended the picking with other pieces."""
    order = world.place({"sku": "MILK", "quantity": 2})
    world.heard()
    world.platform.faults({"at": "put_order", "kind": "refuse_connection", "times": 4})
    world.say(order, "fulfil", picked("MILK", quantity=1))
    world.tick()
    world.platform.faults()
    if world.told(order)[-1]["state"] != "sending":
        pytest.fail(str(world.told(order)))
    item = order["items"][0]
    body = {"order_id": order["order_id"], "status": "READY_FOR_PICKUP"}
    body["items"] = [{"_id": item["_id"], "sku": "MILK", "status": "IN_CART", "pricing": {"quantity": 2}}]
    with world.platform.partner() as portal:
        assert portal.put(f"/v2/chains/demo-chain/orders/{order['order_id']}", json=body).status_code == 200
    last = world.until(order, "done")
    assert last["messages"] == ["MILK (Milk 1 l): 2 pieces stand on the platform, and 1 were picked."]


def test_an_order_that_the_platform_has_forgotten_is_not_asked_for_for_ever(world):
    order = world.place("MILK")
    world.heard()
    world.platform.control("POST", "reset")
    world.furnish()
    world.say(order, "fulfil", picked("MILK"))
    for _ in range(3):
        world.tick()
    assert world.told(order)[-1]["state"] == "sending", "it may be a moment of the platform's"
    with world.house.parts.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger.picking_result SET looks = 20")
    assert world.until(order, "refused")["rules"] == ["unknown_order"]


def test_a_short_sku_is_found_behind_all_the_names_that_hold_it(world):
    many = [{"sku": f"A{number:04}", "title": f"7 kinds of tea {number}", "price": 1} for number in range(600)]
    world.platform.put_products(STORE, [*ASSORTMENT, *many, {"sku": "7", "title": "Seven", "price": 1}])
    order = world.place("MILK")
    world.heard()
    world.say(order, "fulfil", picked("MILK"), added("7", quantity=1))
    world.until(order, "done")
