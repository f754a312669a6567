"""The page of orders and the command line show states and never a customer."""

from __future__ import annotations

import pytest
from fastapi import Request  # noqa: TC002  FastAPI reads annotations
from fastapi.testclient import TestClient

from orders_world import PHONE, picked
from shelfsync.pages.app import create_app
from shelfsync.pages.viewer import Viewer


@pytest.fixture
def browse(world):
    def guard(request: Request) -> None:
        request.state.viewer = Viewer("ada", may_decide=True)

    with TestClient(create_app(lambda: world.house, guard), root_path="/shelfsync/pages") as client:
        yield client


def test_the_page_shows_todays_orders_and_nobody_who_placed_them(world, browse):
    order = world.place("MILK", comment=PHONE, transport_type="VENDOR_DELIVERY")
    world.heard()
    world.house.orders.hand_over()
    world.say(order, "fulfil", picked("MILK", quantity=9))
    world.tick()
    page = browse.get("/orders").text
    assert order["order_id"] in page
    assert "refused" in page
    whole = browse.get(f"/orders/{order['order_id']}").text
    assert "9 pieces are more than the 2 that are allowed" in whole
    for text in (page, whole):
        assert PHONE not in text
        assert "Robin" not in text


def test_a_name_of_a_product_can_do_nothing_on_the_page(world, browse):
    world.platform.put_products("store-001", [{"sku": "<script>", "title": "<script>alert(1)</script>", "price": 1.0}])
    order = world.place("<script>")
    world.heard()
    text = browse.get(f"/orders/{order['order_id']}").text
    assert "<script>" not in text.split("</head>")[1]


def test_an_order_that_nobody_knows_is_said_to_be_so(browse):
    answer = browse.get("/orders/nobody")
    assert (answer.status_code, "No such order" in answer.text) == (404, True)
    assert "No order today" in browse.get("/orders").text


def test_the_feedback_of_a_check_and_the_gaps_of_the_week_are_shown(world, browse):
    order = world.place({"sku": "MILK", "quantity": 2})
    world.heard()
    world.began_long_ago()
    world.say(order, "check", picked("MILK", quantity=1))
    world.until(order, "checked")
    assert "the platform would make of it" in browse.get(f"/orders/{order['order_id']}").text
    assert "no event told of" not in browse.get("/orders").text
    world.platform.faults({"at": "order_webhook", "kind": "lost"})
    world.place("JAM", ago_s=30)
    world.house.orders.history(["store-001"])
    assert "Orders that no event told of" in browse.get("/orders").text
