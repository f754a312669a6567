"""interface.md 4.8.8: items added while picking."""

from __future__ import annotations

import pytest

from order_picker import picked


def addition(sku: str | None = None, **pricing: float) -> dict:
    return {"status": "ADDITION", **({"sku": sku} if sku else {}), **({"pricing": pricing} if pricing else {})}


def test_several_items_are_added_at_the_catalog_price(picker):
    order = picker.place("MILK", delivery_fee=0, service_fee=0)
    sent = [picked(order["items"][0]), addition("BREAD", quantity=2), addition("OLD", quantity=1)]
    after = picker.done(order, "READY_FOR_PICKUP", *sent)
    assert [(item["sku"], item["status"], item["pricing"]["total_price"]) for item in after["items"]] == [
        ("MILK", "IN_CART", 1.5),
        ("BREAD", "ADDITION", 4.0),
        ("OLD", "ADDITION", 1.0),
    ]
    assert after["order_total"] == 6.5


@pytest.mark.parametrize("price", [0.5, 7.0])
def test_a_unit_price_overrides_the_catalog_price(picker, price):
    order = picker.place("MILK")
    after = picker.done(order, "READY_FOR_PICKUP", addition("BREAD", quantity=2, unit_price=price))
    added = after["items"][-1]
    assert (added["pricing"]["unit_price"], added["pricing"]["total_price"]) == (price, 2 * price)
    assert added["original_pricing"]["unit_price"] == 2.0


def test_a_weighed_item_is_added_with_its_weight(picker):
    order = picker.place("MILK")
    after = picker.done(order, "READY_FOR_PICKUP", addition("CHEESE", quantity=1, weight=0.25))
    assert (after["items"][-1]["pricing"]["total_price"], after["items"][-1]["pricing"]["weight"]) == (3.0, 0.25)


def test_an_item_that_is_in_the_order_becomes_a_separate_entry(picker):
    order = picker.place("MILK")
    after = picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0]), addition("MILK", quantity=1))
    assert [(item["sku"], item["status"]) for item in after["items"]] == [("MILK", "IN_CART"), ("MILK", "ADDITION")]
    assert after["items"][0]["_id"] != after["items"][1]["_id"]


def test_an_unknown_item_fails_with_item_not_found(picker):
    order = picker.place("MILK")
    assert picker.rejected(order, "READY_FOR_PICKUP", addition("NOWHERE", quantity=1))["code"] == "ITEM_NOT_FOUND"


@pytest.mark.parametrize(
    ("item", "missing"),
    [
        (addition("BREAD"), "quantity"),
        (addition("BREAD", unit_price=1.0), "quantity"),
        (addition(None, quantity=1), "sku"),
        (addition("CHEESE", quantity=1), "weight"),
    ],
)
def test_missing_attributes_fail_with_invalid_cart_update(picker, item, missing):
    answer = picker.rejected(picker.place("MILK"), "READY_FOR_PICKUP", item)
    assert (answer["code"], missing in answer["message"]) == ("INVALID_CART_UPDATE", True)


def test_no_promotion_is_applied_to_an_addition(picker, promote):
    promote({"sku": ["BREAD"], "discount_subtype": "FINAL_PRICE", "discount_value": 0.5})
    after = picker.done(picker.place("MILK"), "READY_FOR_PICKUP", addition("BREAD", quantity=1))
    assert (after["items"][-1]["promotion"], after["items"][-1]["pricing"]["unit_price"]) == ([], 2.0)
