"""interface.md 2.6, 3.2: order items, their pricing and states."""

from __future__ import annotations

import uuid

from order_picker import by_sku, picked, replacing


def test_an_item_is_not_processed_as_received(picker):
    order = picker.place("MILK", "CHEESE")
    assert {item["status"] for item in order["items"]} == {"NOT_PROCESSED"}
    assert {item["status"] for item in picker.events()[0]["items"]} == {"NOT_PROCESSED"}


def test_every_item_has_an_id_of_its_own(picker):
    items = picker.place("MILK", "MILK", "BREAD")["items"]
    assert len({uuid.UUID(item["_id"]) for item in items}) == 3


def test_the_pricing_of_pieces_has_every_field_and_no_weight(picker):
    (item,) = picker.place({"sku": "BREAD", "quantity": 3})["items"]
    assert (item["sku"], item["name"]) == ("BREAD", "Bread")
    assert item["pricing"] == {
        "pricing_type": "UNIT",
        "quantity": 3,
        "unit_price": 2.0,
        "total_price": 6.0,
        "list_price": 2.0,
        "min_quantity": 1,
        "max_quantity": 5,
    }


def test_the_quantity_of_a_weighed_item_is_1_and_its_bounds_are_weights(picker):
    (item,) = picker.place({"sku": "CHEESE", "quantity": 1, "weight": 0.4})["items"]
    assert item["pricing"] == {
        "pricing_type": "KG",
        "quantity": 1,
        "weight": 0.4,
        "unit_price": 12.0,
        "total_price": 4.8,
        "list_price": 12.0,
        "min_quantity": 0.2,
        "max_quantity": 0.6,
    }


def test_total_price_is_unit_price_times_quantity(picker):
    order = picker.place({"sku": "MILK", "quantity": 7}, {"sku": "JAM", "quantity": 2})
    for item in order["items"]:
        pricing = item["pricing"]
        assert pricing["total_price"] == pricing["unit_price"] * pricing["quantity"]


def test_the_original_pricing_is_the_one_at_creation_whatever_is_sent(picker):
    order = picker.place({"sku": "MILK", "quantity": 4})
    sent = picked(order["items"][0], quantity=2) | {
        "original_pricing": {"unit_price": 99},
        "promotion": [{"name": "x"}],
    }
    (item,) = picker.done(order, "READY_FOR_PICKUP", sent)["items"]
    assert item["pricing"]["quantity"] == 2
    assert item["original_pricing"] == order["items"][0]["pricing"]
    assert item["promotion"] == []


def test_a_promotion_at_creation_is_on_the_item_with_its_sponsor(picker, promote):
    promote({"sku": ["MILK"], "discount_subtype": "FINAL_PRICE", "discount_value": 1.2}, name="Dairy week")
    (item,) = picker.place({"sku": "MILK", "quantity": 3})["items"]
    assert item["promotion"] == [
        {
            "name": "Dairy week",
            "type": "STRIKETHROUGH",
            "discount_amount": 0.9,
            "sponsorships": [{"sponsor": "VENDOR", "amount": 0.9}],
        }
    ]
    assert (item["pricing"]["unit_price"], item["pricing"]["list_price"], item["pricing"]["total_price"]) == (
        1.2,
        1.5,
        3.6,
    )


def test_a_put_sets_each_of_the_four_states(picker):
    order = picker.place("MILK", "BREAD", "JAM")
    milk, bread, jam = order["items"]
    after = picker.done(
        order,
        "READY_FOR_PICKUP",
        picked(milk),
        picked(bread, "NOT_FOUND"),
        *replacing(jam, "MILK"),
        {"sku": "BREAD", "status": "ADDITION", "pricing": {"quantity": 1}},
    )
    assert [(item["sku"], item["status"]) for item in after["items"]] == [
        ("MILK", "IN_CART"),
        ("BREAD", "NOT_FOUND"),
        ("JAM", "REPLACED"),
        ("MILK", "IN_CART"),
        ("BREAD", "ADDITION"),
    ]


def test_the_replacing_item_names_the_replaced_one(picker):
    order = picker.place("JAM")
    after = picker.done(order, "READY_FOR_PICKUP", *replacing(order["items"][0], "MILK"))
    assert by_sku(after, "MILK")["replaced_id"] == order["items"][0]["_id"]
    assert "replaced_id" not in by_sku(after, "JAM")
