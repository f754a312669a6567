from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partner_api.errors import AmbiguousError, InvalidRequestError, NotFoundError, UnexpectedAnswerError
from partner_api.order import Order
from partner_api.order_update import ItemUpdate, OrderUpdate

ORDER_ID = "5b8e6f3c-1111-4222-8333-444455556666"
ITEM_ID = "0a0a0a0a-1111-4222-8333-444455556666"
NESTED = {
    "order_id": ORDER_ID,
    "external_order_id": "ext-1",
    "order_code": "1234",
    "transport_type": "LOGISTICS_DELIVERY",
    "order_type": "DELIVERY",
    "status": "RECEIVED",
    "promised_for": "2026-03-01T12:30:00Z",
    "sys": {"created_at": "2026-03-01T12:00:00.5+02:00", "updated_at": "2026-03-01T10:00:01"},
    "client": {"id": "c", "chain_id": "demo-chain", "store_id": "store-9", "external_partner_config_id": "our-9"},
    "payment": {"sub_total": 10.10, "order_total": "12.30", "type": "PAID"},
    "customer": {"phone_number": "+491701234567", "loyalty_card": "canary-card"},
    "items": [
        {
            "_id": ITEM_ID,
            "sku": "A",
            "name": "Tea",
            "quantity": 1,
            "status": "NOT_PROCESSED",
            "pricing": {
                "pricing_type": "unit",
                "quantity": 3,
                "unit_price": 1.005,
                "min_quantity": 0,
                "max_quantity": 3,
            },
            "original_pricing": {"quantity": 3},
            "promotion": [
                {"name": "P", "discount_amount": 0.1, "sponsorships": [{"sponsor": "VENDOR", "amount": 0.1}]}
            ],
        }
    ],
    "replacement_preferences": {"canary": 1},
}


def test_an_order_is_read_nested_with_exact_money_and_the_ordered_quantity(tools):
    server = tools.platform(tools.http(200, NESTED))
    order = tools.client(server).get_order(ORDER_ID)
    assert (order.vendor_id, order.store_id, order.chain_id) == ("our-9", "store-9", "demo-chain")
    assert (order.sub_total, order.order_total) == (Decimal("10.1"), Decimal("12.30"))
    assert order.created_at == dt.datetime(2026, 3, 1, 10, 0, 0, 500000, tzinfo=dt.UTC)
    assert order.updated_at == dt.datetime(2026, 3, 1, 10, 0, 1, tzinfo=dt.UTC)
    assert (order.customer_phone, order.loyalty_card) == ("+491701234567", "canary-card")
    (item,) = order.items
    assert (item.item_id, item.pricing.pricing_type, item.pricing.quantity) == (ITEM_ID, "UNIT", Decimal(3))
    assert item.pricing.unit_price == Decimal("1.005")
    assert item.promotions[0].sponsorships == (("VENDOR", Decimal("0.1")),)


def test_an_order_is_read_flat_as_the_interface_lists_it():
    order = Order.read(
        {"store_id": 9, "sub_total": "1.10", "order_total": 2, "status": "picked_up", "accepted_for": "rubbish"}
    )
    assert (order.vendor_id, order.sub_total, order.order_total, order.status) == (
        "9",
        Decimal("1.10"),
        Decimal(2),
        "PICKED_UP",
    )
    assert order.accepted_for is None


def test_an_orders_repr_shows_nothing_of_the_customer():
    shown = repr(Order.read(NESTED))
    assert "canary" not in shown
    assert "1234567" not in shown


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*NESTED, "pricing", "_id", "sku"]), inner, max_size=4)
    ),
    max_leaves=20,
)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(sorted(NESTED)), _json))
def test_no_malformed_order_breaks_the_reading(raw):
    order = Order.read(raw)
    assert order.raw is raw


def test_a_fulfilment_is_sent_exactly_and_its_answer_read(tools):
    server = tools.platform(tools.http(200, NESTED))
    items = (
        ItemUpdate("A", "REPLACED", item_id=ITEM_ID, quantity=3, pricing_type="UNIT"),
        ItemUpdate("B", "IN_CART", quantity=2, unit_price=Decimal("1.10"), replaced_id=ITEM_ID),
        ItemUpdate("C", "IN_CART", weight=Decimal("0.750"), pricing_type="KG"),
        ItemUpdate("D", "NOT_FOUND"),
    )
    update = OrderUpdate(ORDER_ID, "READY_FOR_PICKUP", items, confirmed_amount=Decimal("9.90"))
    assert tools.client(server).put_order(update).order_code == "1234"
    (sent,) = server.of("PUT", f"/v2/chains/demo-chain/orders/{ORDER_ID}")
    assert b'"unit_price":1.10' in sent.body
    assert b'"weight":0.750' in sent.body
    assert json.loads(sent.body) == {
        "order_id": ORDER_ID,
        "status": "READY_FOR_PICKUP",
        "items": [
            {"_id": ITEM_ID, "sku": "A", "status": "REPLACED", "pricing": {"pricing_type": "UNIT", "quantity": 3}},
            {"sku": "B", "status": "IN_CART", "pricing": {"quantity": 2, "unit_price": 1.1}, "replaced_id": ITEM_ID},
            {"sku": "C", "status": "IN_CART", "pricing": {"pricing_type": "KG", "weight": 0.75}},
            {"sku": "D", "status": "NOT_FOUND"},
        ],
        "confirmed_amount": 9.9,
    }


def test_an_acceptance_carries_its_instant_in_utc(tools):
    server = tools.platform(tools.http(200, NESTED))
    then = dt.datetime(2026, 3, 1, 14, 0, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    tools.client(server).put_order(OrderUpdate(ORDER_ID, "ACCEPTED", accepted_for=then))
    assert json.loads(server.of("PUT")[0].body) == {
        "order_id": ORDER_ID,
        "status": "ACCEPTED",
        "accepted_for": "2026-03-01T12:00:00Z",
    }


def test_a_cancellation_is_the_partners_own_with_its_reason(tools):
    server = tools.platform(tools.http(200, NESTED))
    update = OrderUpdate(ORDER_ID, "CANCELLED", (ItemUpdate("A", "NOT_FOUND"),), cancel_reason="CLOSED")
    tools.client(server).put_order(update)
    assert json.loads(server.of("PUT")[0].body)["cancellation"] == {"reason": "CLOSED", "cancelled_by": "VENDOR"}


@pytest.mark.parametrize("sku", ["", "  ", None])
@pytest.mark.parametrize("status", ["IN_CART", "NOT_FOUND", "REPLACED", "ADDITION"])
def test_an_item_without_its_sku_cannot_be_built(sku, status):
    with pytest.raises(InvalidRequestError, match="cancels the order"):
        ItemUpdate(sku, status, item_id=ITEM_ID, quantity=1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ItemUpdate("A", "REPLACED"), "needs its _id"),
        (lambda: ItemUpdate("A", "ADDITION"), "needs a quantity"),
        (lambda: ItemUpdate("A", "IN_CART", replaced_id=ITEM_ID), "needs a quantity"),
        (lambda: ItemUpdate("A", "NOT_FOUND", replaced_id=ITEM_ID, quantity=1), "is IN_CART"),
        (lambda: ItemUpdate("A", "IN_CART", unit_price=Decimal(1), total_price=Decimal(2)), "both"),
        (lambda: ItemUpdate("A", "IN_CART", pricing_type="KG", total_price=Decimal(2)), "follows its weight"),
        (lambda: ItemUpdate("A", "IN_CART", weight=Decimal("NaN")), "not finite"),
        (lambda: ItemUpdate("A", "IN_CART", weight=Decimal("Infinity")), "not finite"),
        (lambda: ItemUpdate("A", "IN_CART", quantity=-1), "negative"),
        (lambda: OrderUpdate(ORDER_ID, "ACCEPTED"), "accepted_for"),
        (lambda: OrderUpdate(ORDER_ID, "READY_FOR_PICKUP"), "needs the items"),
        (lambda: OrderUpdate(ORDER_ID, "CANCELLED", (ItemUpdate("A", "NOT_FOUND"),)), "reason"),
        (lambda: OrderUpdate(ORDER_ID, "DISPATCHED", (ItemUpdate("A", "IN_CART"),), cancel_reason="CLOSED"), "reason"),
        (
            lambda: OrderUpdate(ORDER_ID, "CANCELLED", (ItemUpdate("A", "IN_CART"),), cancel_reason="CLOSED"),
            "none of its items",
        ),
        (
            lambda: OrderUpdate(ORDER_ID, "DISPATCHED", (ItemUpdate("A", "REPLACED", item_id=ITEM_ID),)),
            "in one request",
        ),
        (
            lambda: OrderUpdate(ORDER_ID, "DISPATCHED", (ItemUpdate("B", "IN_CART", quantity=1, replaced_id=ITEM_ID),)),
            "not replaced here",
        ),
        (
            lambda: OrderUpdate(
                ORDER_ID,
                "DISPATCHED",
                (
                    ItemUpdate("A", "REPLACED", item_id=ITEM_ID),
                    ItemUpdate("B", "IN_CART", quantity=1, replaced_id=ITEM_ID),
                    ItemUpdate("C", "IN_CART", quantity=1, replaced_id=ITEM_ID),
                ),
            ),
            "one replacement",
        ),
    ],
)
def test_an_update_that_the_platform_rejects_or_answers_by_cancelling_is_never_sent(make, message):
    with pytest.raises(InvalidRequestError, match=message):
        make()


@pytest.mark.parametrize("status", ["READY_FOR_PICKUP", "DISPATCHED", "ACCEPTED", "CANCELLED"])
def test_an_order_put_whose_answer_is_lost_is_ambiguous_and_never_repeated_or_cancelled(tools, status):
    server = tools.platform(lambda seen, send: None)
    item = ItemUpdate("A", "NOT_FOUND")
    reason = "TOO_BUSY" if status == "CANCELLED" else None
    update = OrderUpdate(ORDER_ID, status, (item,), accepted_for=dt.datetime.now(dt.UTC), cancel_reason=reason)
    with pytest.raises(AmbiguousError, match="read-back"):
        tools.client(server).put_order(update)
    assert len(server.of("PUT")) == 1


def test_a_validation_of_the_cart_changes_nothing_and_is_repeated(tools):
    server = tools.platform(lambda seen, send: None, tools.http(500, b""), tools.http(200, NESTED))
    tools.client(server).put_order(OrderUpdate(ORDER_ID, "UPDATE_CART", (ItemUpdate("A", "IN_CART"),)))
    assert len(server.of("PUT")) == 3


@pytest.mark.parametrize("answer", [(200, b""), (200, {"order_id": "another"}), (500, {}), (200, "<html>")])
def test_an_order_put_with_an_unreadable_answer_is_ambiguous(tools, answer):
    server = tools.platform(tools.http(*answer))
    with pytest.raises(AmbiguousError):
        tools.client(server).put_order(OrderUpdate(ORDER_ID, "DISPATCHED", (ItemUpdate("A", "IN_CART"),)))


START = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
END = START + dt.timedelta(days=1)


def history(http, live, total=3):
    """A platform that serves the history on one of the two paths; the other answers 404 with an empty body."""

    def script(seen, send):
        if seen.path.endswith("/orders") is not live:
            send(http(404, b""))
            return
        asked = {name: value[0] for name, value in parse_qs(urlsplit(seen.target).query).items()}
        page, size = int(asked["page"]), int(asked["page_size"])
        orders = [{"order_id": f"o{number}"} for number in range((page - 1) * size, min(page * size, total))]
        send(
            http(
                200, {"orders": orders, "page_number": page, "page_size": len(orders), "total_pages": -(-total // size)}
            )
        )

    return script


@pytest.mark.parametrize(("live", "requests"), [(False, 2), (True, 3)])
def test_the_history_path_is_found_out_once_and_remembered(tools, live, requests):
    server = tools.platform(history(tools.http, live))
    client = tools.client(server)
    for _ in range(2):
        page = client.list_orders("store-1", START, END, 1, 2)
        assert [order.order_id for order in page.orders] == ["o0", "o1"]
    assert len(server.of("GET")) == requests
    assert (
        "start_time=2026-03-01T00%3A00%3A00&end_time=2026-03-02T00%3A00%3A00&page=1&page_size=2"
        in server.of("GET")[-1].target
    )


def test_a_vendors_own_page_is_not_taken_for_its_history(tools):
    def script(seen, send):
        live = seen.path.endswith("/orders")
        send(tools.http(200, {"orders": [{"order_id": "o"}], "total_pages": 1} if live else {"name": "a store"}))

    server = tools.platform(script)
    assert len(tools.client(server).list_orders("v", START, END).orders) == 1


def test_an_unknown_vendor_is_not_found_on_either_path(tools):
    server = tools.platform(tools.http(404, {"message": "no"}))
    with pytest.raises(NotFoundError):
        tools.client(server).list_orders("v", START, END)
    assert len(server.of("GET")) == 2
    server = tools.platform(tools.http(200, {}))
    with pytest.raises(UnexpectedAnswerError, match="no history path"):
        tools.client(server).list_orders("v", START, END)


def test_the_whole_history_is_every_page_once(tools):
    server = tools.platform(history(tools.http, live=True, total=1203))
    found = tools.client(server).whole_history("v", START, END)
    assert (found.complete, len(found.orders), found.pages) == (True, 1203, 3)


@pytest.mark.parametrize(
    ("start", "end", "page", "size"),
    [
        (START, START + dt.timedelta(days=60, seconds=1), 1, 500),
        (END, START, 1, 500),
        (START.replace(tzinfo=None), END, 1, 500),
        (START, END, 0, 500),
        (START, END, 1, 501),
        (START, END, 1, 0),
    ],
)
def test_a_range_that_the_platform_rejects_is_never_sent(tools, start, end, page, size):
    server = tools.platform(tools.http(200, {"orders": []}))
    with pytest.raises(InvalidRequestError, match="Nothing was sent"):
        tools.client(server).list_orders("v", start, end, page, size)
    assert server.connections == 0
