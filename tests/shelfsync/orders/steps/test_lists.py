"""The page of orders and the command line show states and never a customer."""

from __future__ import annotations

import csv
import io
import re

import pyarrow as pa
import pytest
import sqlalchemy as sa
from fastapi import Request  # noqa: TC002  FastAPI reads annotations
from fastapi.testclient import TestClient

from orders_world import PHONE, picked
from shelfsync.catalog.ledger import vendors
from shelfsync.orders.steps.find_order import find_order
from shelfsync.pages.app import create_app
from shelfsync.pages.rights import Viewer
from shelfsync.schemas import NAMES


@pytest.fixture
def browse(world):
    def guard(request: Request) -> None:
        request.state.viewer = Viewer("ada", may_decide=True)

    with TestClient(create_app(lambda: world.app.context, guard), root_path="/shelfsync/pages") as client:
        yield client


@pytest.mark.slow
def test_the_page_shows_todays_orders_and_no_customer(world, browse):
    order = world.place("MILK", comment=PHONE, transport_type="VENDOR_DELIVERY")
    world.receive_events()
    world.app.orders.hand_over()
    world.report(order, "fulfil", picked("MILK", quantity=9))
    world.tick()
    page = browse.get("/orders").text
    assert order["order_id"] in page
    assert "rejected" in page
    assert "not believed" not in page
    with world.app.context.engine.begin() as connection:
        connection.execute(sa.text("UPDATE ledger.customer_order SET has_odd_time = true"))
    assert "a time of it is not believed" in browse.get("/orders").text
    whole = browse.get(f"/orders/{order['order_id']}").text
    assert "9 pieces are more than the 2 that are allowed" in whole
    for text in (page, whole):
        assert PHONE not in text
        assert "Robin" not in text


def test_a_product_without_a_name_on_the_platform_has_the_erps_on_page_and_command_line(world, browse):
    world.platform.put_products("store-001", [{"sku": "4711", "title": "", "price": 1.0}])
    order = world.place("4711")
    world.receive_events()
    context = world.app.context
    path = context.lake.write_table(
        "names", "store-001", pa.table({"sku": ["4711"], "name": ["Alpine milk"]}, schema=NAMES)
    )
    with context.engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO ledger.vendor (vendor) VALUES ('store-001') ON CONFLICT DO NOTHING"))
        vendors.name_products(connection, "store-001", path)
    assert ">4711</a><td>Alpine milk<td>" in browse.get(f"/orders/{order['order_id']}").text
    assert [line["name"] for line in find_order(context, order["order_id"])["lines"]] == ["Alpine milk"]


def test_a_name_of_a_product_can_do_nothing_on_the_page(world, browse):
    world.platform.put_products("store-001", [{"sku": "<script>", "title": "<script>alert(1)</script>", "price": 1.0}])
    order = world.place("<script>")
    world.receive_events()
    text = browse.get(f"/orders/{order['order_id']}").text
    assert "<script>" not in text.split("</head>")[1]


def test_an_unknown_order_is_answered_404(browse):
    answer = browse.get("/orders/unknown")
    assert (answer.status_code, "no such order" in answer.text) == (404, True)
    assert "No order yet" in browse.get("/orders").text


@pytest.mark.slow
def test_orders_are_filtered_sorted_and_downloaded_with_their_fees(world, browse):
    first, second = world.place("MILK"), world.place("JAM")
    world.receive_events()
    with world.app.context.engine.begin() as connection:
        connection.execute(
            sa.text(
                "UPDATE warehouse.customer_order SET status = 'DELIVERED', sub_total = 7.5, order_total = 9, placed_at = placed_at - interval '1 h'"
                " WHERE order_id = :id"
            ),
            {"id": first["order_id"]},
        )

    def listed(query):
        text = browse.get(f"/orders?{query}").text
        return re.findall(r'/orders/([0-9a-f-]{36})"', text), text

    both = [second["order_id"], first["order_id"]]
    assert listed("")[0] == both
    assert listed("order=oldest")[0] == both[::-1]
    assert "1 still to be picked" in listed("")[1]
    code = find_order(world.app.context, both[1])["order_code"]
    for query, found in {
        "open=yes": both[:1],
        "state=DELIVERED": both[1:],
        f"number={code}": both[1:],
        f"number={both[0]}": both[:1],
        "vendor=store-999": [],
    }.items():
        assert listed(query)[0] == found, query
    assert "There is no such order." in listed("vendor=store-999")[1]
    assert re.search(r'<td class="n">1.50<td class="n">9.00', listed("state=DELIVERED")[1])
    rows = list(csv.DictReader(io.StringIO(browse.get("/orders.csv?state=DELIVERED").text.removeprefix("\ufeff"))))
    assert [(row["order_id"], row["fees"], row["order_total"]) for row in rows] == [(both[1], "1.5", "9")]


@pytest.mark.slow
def test_the_feedback_of_a_check_and_the_gaps_of_the_week_are_shown(world, browse):
    order = world.place({"sku": "MILK", "quantity": 2})
    world.receive_events()
    world.backdate_first_event()
    world.report(order, "check", picked("MILK", quantity=1))
    world.until(order, "checked")
    assert "the order would become" in browse.get(f"/orders/{order['order_id']}").text
    assert "Orders without an event" not in browse.get("/orders").text
    world.platform.faults({"at": "order_webhook", "kind": "lost"})
    world.place("JAM", ago_s=30)
    world.app.orders.history(["store-001"])
    assert "Orders without an event" in browse.get("/orders").text


def test_a_cancelled_order_has_no_fees(world):
    order = world.place("MILK")
    world.receive_events()
    assert world.app.orders.orders()[0]["fees"] is not None
    world.platform.control("POST", f"orders/{order['order_id']}/cancel")
    world.receive_events()
    (found,) = world.app.orders.orders()
    assert (found["status"], found["fees"]) == ("CANCELLED", None)
