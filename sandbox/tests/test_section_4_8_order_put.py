"""interface.md 4.8: the order PUT, rules 2 to 6 and 9, and what makes a request invalid."""

from __future__ import annotations

import pytest

from order_picker import CHAIN, by_sku, picked

UNKNOWN = "00000000-0000-4000-8000-000000000000"


def test_the_answer_is_the_order_with_the_original_pricing_of_each_item(picker):
    order = picker.place("MILK", "CHEESE")
    after = picker.done(order, "READY_FOR_PICKUP", *(picked(item) for item in order["items"]))
    assert after["order_id"] == order["order_id"]
    assert [item["original_pricing"] for item in after["items"]] == [item["pricing"] for item in order["items"]]


def test_rule_2_picked_items_and_ready_for_pickup_fulfil_and_are_confirmed_by_webhook(picker):
    order = picker.place("MILK", "BREAD")
    picker.done(order, "READY_FOR_PICKUP", *(picked(item) for item in order["items"]))
    event = picker.events()[-1]
    assert event["status"] == "READY_FOR_PICKUP"
    assert [item["status"] for item in event["items"]] == ["IN_CART", "IN_CART"]


def test_items_are_found_by_their_sku_alone_too(picker):
    order = picker.place("MILK", "MILK")
    after = picker.done(
        order, "READY_FOR_PICKUP", *({"sku": "MILK", "status": word} for word in ("IN_CART", "NOT_FOUND"))
    )
    assert [item["status"] for item in after["items"]] == ["IN_CART", "NOT_FOUND"]


def test_rule_3_items_that_are_not_found_are_not_paid(picker):
    order = picker.place("MILK", "JAM", delivery_fee=1, service_fee=0)
    milk, jam = order["items"]
    after = picker.done(order, "READY_FOR_PICKUP", picked(milk), picked(jam, "NOT_FOUND"))
    assert (after["sub_total"], after["order_total"]) == (1.5, 2.5)


def test_rule_3_promotion_data_is_not_recalculated_with_the_quantity(picker, promote):
    promote({"sku": ["MILK"], "discount_subtype": "FINAL_PRICE", "discount_value": 1.0})
    order = picker.place({"sku": "MILK", "quantity": 4})
    (item,) = picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0], quantity=1))["items"]
    assert item["promotion"][0]["discount_amount"] == 2.0
    assert (item["pricing"]["unit_price"], item["pricing"]["total_price"]) == (1.0, 1.0)


def test_rule_3_what_is_not_mentioned_stays_as_ordered(picker):
    order = picker.place("MILK", "JAM")
    after = picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))
    assert [item["status"] for item in after["items"]] == ["IN_CART", "NOT_PROCESSED"]
    assert after["sub_total"] == 4.5


@pytest.mark.parametrize(
    ("quantity", "allowed"), [(1, True), (2, True), (5, True), (6, False), (0, False), (2.5, False)]
)
def test_rule_4_a_quantity_stays_within_its_bounds(picker, quantity, allowed):
    order = picker.place({"sku": "BREAD", "quantity": 3})
    sent = picked(order["items"][0], quantity=quantity)
    if allowed:
        (item,) = picker.done(order, "READY_FOR_PICKUP", sent)["items"]
        assert item["pricing"]["total_price"] == 2.0 * quantity
    else:
        assert "quantity" in picker.rejected(order, "READY_FOR_PICKUP", sent)["message"]


def test_rule_4_the_unit_price_can_be_decreased(picker):
    order = picker.place({"sku": "JAM", "quantity": 2})
    (item,) = picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0], unit_price=2.5))["items"]
    assert (item["pricing"]["unit_price"], item["pricing"]["total_price"]) == (2.5, 5.0)


def test_rule_4_an_increase_of_the_unit_price_is_rejected(picker):
    order = picker.place("JAM")
    assert (
        "unit_price"
        in picker.rejected(order, "READY_FOR_PICKUP", picked(order["items"][0], unit_price=3.001))["message"]
    )


@pytest.mark.parametrize("total", [5.0, 7.25])
def test_rule_4_the_total_price_can_be_decreased_or_increased(picker, total):
    order = picker.place({"sku": "JAM", "quantity": 2})
    (item,) = picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0], total_price=total))["items"]
    assert (item["pricing"]["unit_price"], item["pricing"]["total_price"]) == (3.0, total)


def test_rule_4_unit_price_and_total_price_are_not_changed_both(picker):
    order = picker.place({"sku": "JAM", "quantity": 2})
    sent = picked(order["items"][0], unit_price=2.5, total_price=4.0)
    assert "not both" in picker.rejected(order, "READY_FOR_PICKUP", sent)["message"]


def test_rule_4_a_pricing_sent_back_as_it_came_is_no_change(picker):
    order = picker.place({"sku": "JAM", "quantity": 2}, "CHEESE")
    sent = [picked(item, **item["pricing"]) for item in order["items"]]
    after = picker.done(order, "READY_FOR_PICKUP", *sent)
    assert [item["pricing"] for item in after["items"]] == [item["pricing"] for item in order["items"]]


def test_rule_4_updated_prices_show_in_the_event_that_follows(picker):
    order = picker.place({"sku": "JAM", "quantity": 2})
    picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0], unit_price=2.5))
    assert by_sku(picker.events()[-1], "JAM")["pricing"]["total_price"] == 5.0
    assert picker.events()[-1]["sub_total"] == 5.0


@pytest.mark.parametrize(
    ("weight", "allowed"), [(0.2, True), (0.433, True), (0.6, True), (0.199, False), (0.601, False)]
)
def test_rule_5_a_weight_stays_within_its_bounds_and_the_price_follows(picker, weight, allowed):
    order = picker.place({"sku": "CHEESE", "quantity": 1, "weight": 0.4})
    sent = picked(order["items"][0], weight=weight)
    if allowed:
        (item,) = picker.done(order, "READY_FOR_PICKUP", sent)["items"]
        assert item["pricing"]["total_price"] == pytest.approx(12 * weight, abs=1e-9)
        assert (item["pricing"]["weight"], item["pricing"]["quantity"]) == (weight, 1)
    else:
        assert "weight" in picker.rejected(order, "READY_FOR_PICKUP", sent)["message"]


@pytest.mark.parametrize("change", [{"unit_price": 11.0}, {"total_price": 1.0}, {"quantity": 2}])
def test_rule_5_price_and_quantity_of_a_weighed_item_cannot_be_changed(picker, change):
    order = picker.place({"sku": "CHEESE", "quantity": 1, "weight": 0.4})
    picker.rejected(order, "READY_FOR_PICKUP", picked(order["items"][0], weight=0.5, **change))


def test_rule_5_pieces_are_not_weighed(picker):
    order = picker.place("MILK")
    assert "weight" in picker.rejected(order, "READY_FOR_PICKUP", picked(order["items"][0], weight=1.0))["message"]


def test_rule_5_weighing_needs_enablement(picker):
    picker.platform.control("PUT", "settings", {"order_weighing": "disabled"})
    order = picker.place("CHEESE")
    assert "not enabled" in picker.rejected(order, "READY_FOR_PICKUP", picked(order["items"][0], weight=0.9))["message"]


@pytest.mark.parametrize(
    ("amount", "allowed"), [(9.0, True), (11.0, True), (10.4, True), (8.999, False), (11.001, False)]
)
def test_rule_6_the_confirmed_amount_is_within_a_tenth_of_items_and_fees(picker, amount, allowed):
    order = picker.place({"sku": "JAM", "quantity": 3}, delivery_fee=0.75, service_fee=0.25)
    assert order["order_total"] == 10.0
    if allowed:
        after = picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0]), confirmed_amount=amount)
        assert (after["order_total"], after["confirmed_amount"], after["sub_total"]) == (amount, amount, 9.0)
    else:
        answer = picker.rejected(order, "READY_FOR_PICKUP", picked(order["items"][0]), confirmed_amount=amount)
        assert answer["code"] == "VALIDATION_ERROR"


def test_rule_6_a_confirmed_amount_goes_with_either_fulfilment(picker):
    order = picker.place("JAM", transport_type="VENDOR_DELIVERY", delivery_fee=0, service_fee=0)
    picker.rejected(order, "DISPATCHED", picked(order["items"][0]), confirmed_amount=3.301)
    assert picker.done(order, "DISPATCHED", picked(order["items"][0]), confirmed_amount=3.3)["order_total"] == 3.3


def test_rule_6_the_confirmed_amount_is_compared_with_the_total_after_picking(picker):
    order = picker.place("JAM", "HONEY", delivery_fee=0, service_fee=0)
    jam, honey = order["items"]
    sent = [picked(jam), picked(honey, "NOT_FOUND")]
    picker.rejected(order, "READY_FOR_PICKUP", *sent, confirmed_amount=order["order_total"])
    picker.done(order, "READY_FOR_PICKUP", *sent, confirmed_amount=3.0)


def test_rule_6_without_a_confirmed_amount_the_total_is_calculated(picker):
    order = picker.place("JAM", delivery_fee=1, service_fee=1)
    after = picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0], unit_price=2.0))
    assert after["order_total"] == 4.0
    assert "confirmed_amount" not in after


def test_rule_9_a_validation_answers_the_changed_items_and_the_unchanged_totals(picker):
    order = picker.place({"sku": "BREAD", "quantity": 3}, "MILK")
    bread, milk = order["items"]
    extra = {"sku": "JAM", "status": "ADDITION", "pricing": {"quantity": 1}}
    answer = picker.done(order, "UPDATE_CART", picked(bread, quantity=1), picked(milk, "NOT_FOUND"), extra)
    assert [(item["sku"], item["status"]) for item in answer["items"]] == [
        ("BREAD", "IN_CART"),
        ("MILK", "NOT_FOUND"),
        ("JAM", "ADDITION"),
    ]
    assert by_sku(answer, "BREAD")["pricing"]["total_price"] == 2.0
    assert (answer["sub_total"], answer["order_total"]) == (order["sub_total"], order["order_total"])
    assert answer["status"] == "RECEIVED"


def test_rule_9_a_validation_changes_nothing_sends_nothing_and_may_be_repeated(picker):
    order = picker.place("BREAD")
    before = picker.get(order)
    answers = [picker.done(order, "UPDATE_CART", picked(order["items"][0], quantity=2)) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert picker.get(order) == before
    assert picker.event_names() == ["RECEIVED"]


def test_rule_9_updated_totals_appear_after_the_fulfilment(picker):
    order = picker.place("BREAD")
    sent = picked(order["items"][0], quantity=2)
    assert picker.done(order, "UPDATE_CART", sent)["sub_total"] == 2.0
    assert picker.done(order, "READY_FOR_PICKUP", sent)["sub_total"] == 4.0


@pytest.mark.parametrize(
    "pricing", [{"quantity": 99}, {"unit_price": 99}, {"weight": 1}, {"unit_price": 1, "total_price": 1}]
)
def test_rule_9_a_validation_rejects_what_the_fulfilment_rejects(picker, pricing):
    order = picker.place("BREAD")
    picker.rejected(order, "UPDATE_CART", picked(order["items"][0], **pricing))


def test_rule_9_neither_price_nor_quantity_of_an_addition_are_validated(picker):
    order = picker.place("MILK")
    extra = {"sku": "BREAD", "status": "ADDITION", "pricing": {"quantity": 500, "unit_price": 99.0}}
    answer = picker.done(order, "UPDATE_CART", extra)
    assert by_sku(answer, "BREAD")["pricing"]["total_price"] == 49_500.0


@pytest.mark.parametrize("status", ["READY_FOR_PICKUP", "UPDATE_CART"])
def test_items_are_required(picker, status):
    order = picker.place("MILK")
    assert picker.rejected(order, status)["message"].startswith("items")


def test_acceptance_needs_no_items_and_accepts_them_unchanged(picker):
    plain = picker.place("MILK", transport_type="VENDOR_DELIVERY")
    picker.done(plain, "ACCEPTED", accepted_for="2026-05-01T18:30:00Z")
    whole = picker.place("MILK", transport_type="VENDOR_DELIVERY")
    after = picker.done(whole, "ACCEPTED", *whole["items"], accepted_for="2026-05-01T18:30:00Z")
    assert after["items"] == whole["items"]


def test_an_unpicked_item_does_not_fulfil(picker):
    order = picker.place("MILK")
    assert "status" in picker.rejected(order, "READY_FOR_PICKUP", picked(order["items"][0], "NOT_PROCESSED"))["message"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"status": "SHIPPED"}, "status"),
        ({"status": 7}, "status"),
        ({"order_id": None}, "order_id"),
        ({"order_id": "x"}, "order_id"),
        ({"order_id": UNKNOWN}, "order_id"),
        ({"items": {}}, "items"),
        ({"items": [{"sku": "MILK", "status": "PICKED"}]}, "items[0].status"),
        ({"items": [{"sku": "MILK"}]}, "items[0].status"),
        ({"items": [{"status": "IN_CART"}]}, "items[0].sku"),
        ({"items": [{"sku": "MILK", "status": "IN_CART", "pricing": {"quantity": "2"}}]}, "items[0].pricing.quantity"),
        (
            {"items": [{"sku": "MILK", "status": "IN_CART", "pricing": {"unit_price": -1}}]},
            "items[0].pricing.unit_price",
        ),
        ({"items": [{"sku": "MILK", "status": "IN_CART", "_id": "x"}]}, "items[0]._id"),
        ({"items": [{"sku": "MILK", "status": "IN_CART", "pricing": {"pricing_type": "KG"}}]}, "pricing_type"),
        ({"accepted_for": "tomorrow"}, "accepted_for"),
        ({"accepted_for": "2026-05-01T18:30:00+02:00"}, "accepted_for"),
        ({"confirmed_amount": True}, "confirmed_amount"),
    ],
)
def test_an_invalid_body_is_rejected_with_the_name_of_the_field(picker, change, field):
    order = picker.place("MILK")
    body = {"order_id": order["order_id"], "status": "READY_FOR_PICKUP", "items": [picked(order["items"][0])]}
    answer = picker.partner.put(f"{CHAIN}/orders/{order['order_id']}", json={**body, **change})
    assert answer.status_code == 400, answer.text
    assert field in answer.json()["message"]
    assert picker.get(order)["status"] == "RECEIVED"


def test_a_body_without_json_is_rejected(picker):
    order = picker.place("MILK")
    answer = picker.partner.put(f"{CHAIN}/orders/{order['order_id']}", content=b'{"order_id":')
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_REQUEST")


def test_an_item_that_is_not_in_the_order_is_not_found(picker):
    order = picker.place("MILK")
    assert picker.rejected(order, "READY_FOR_PICKUP", {"sku": "JAM", "status": "IN_CART"})["code"] == "ITEM_NOT_FOUND"
    wrong = {"_id": order["items"][0]["_id"], "sku": "JAM", "status": "IN_CART"}
    assert picker.rejected(order, "READY_FOR_PICKUP", wrong)["code"] == "ITEM_NOT_FOUND"
    twice = picked(order["items"][0])
    assert picker.rejected(order, "READY_FOR_PICKUP", twice, twice)["code"] == "ITEM_NOT_FOUND"


def test_an_unknown_order_and_the_order_of_another_chain_are_not_found(picker, partner):
    order = picker.place("MILK")
    body = {"order_id": UNKNOWN, "status": "READY_FOR_PICKUP", "items": []}
    assert partner.put(f"{CHAIN}/orders/{UNKNOWN}", json=body).status_code == 404
    picker.platform.control(
        "PUT", "chains/other-chain", {"clients": [{"client_id": "other", "client_secret": "other-secret"}]}
    )
    with picker.platform.partner("other", "other-secret") as other:
        assert other.get(f"/v2/chains/other-chain/orders/{order['order_id']}").status_code == 404
        answer = other.put(
            f"/v2/chains/other-chain/orders/{order['order_id']}", json={**body, "order_id": order["order_id"]}
        )
        assert answer.status_code == 404


def test_an_order_older_than_60_days_can_no_longer_be_changed(picker):
    order = picker.place("MILK")
    picker.platform.advance(60 * 86_400 + 1)
    with picker.platform.partner() as fresh:
        body = {"order_id": order["order_id"], "status": "READY_FOR_PICKUP", "items": [picked(order["items"][0])]}
        assert fresh.put(f"{CHAIN}/orders/{order['order_id']}", json=body).status_code == 404
