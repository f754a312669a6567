"""interface.md 4.8.7: an item that is out of stock, and its replacement."""

from __future__ import annotations

import pytest

from order_picker import STORE, by_sku, picked, replacing


def test_the_replaced_item_leaves_and_the_replacing_one_is_paid(picker):
    order = picker.place("JAM", delivery_fee=0, service_fee=0)
    after = picker.done(order, "READY_FOR_PICKUP", *replacing(order["items"][0], "BREAD"))
    assert [(item["sku"], item["status"]) for item in after["items"]] == [("JAM", "REPLACED"), ("BREAD", "IN_CART")]
    assert (after["sub_total"], after["order_total"]) == (2.0, 2.0)


def test_a_replaced_item_without_id_is_400(picker):
    order = picker.place("JAM")
    gone, new = replacing(order["items"][0], "BREAD")
    del gone["_id"]
    assert "_id" in picker.rejected(order, "READY_FOR_PICKUP", gone, new)["message"]


def test_a_replaced_item_with_id_and_without_sku_cancels_the_order(picker):
    order = picker.place("JAM")
    gone, new = replacing(order["items"][0], "BREAD")
    del gone["sku"]
    assert picker.done(order, "READY_FOR_PICKUP", gone, new)["status"] == "CANCELLED"


def test_both_halves_of_a_replacement_are_in_one_put(picker):
    order = picker.place("JAM")
    gone, new = replacing(order["items"][0], "BREAD")
    assert "replaced_id" in picker.rejected(order, "READY_FOR_PICKUP", gone)["message"]
    assert "replaced_id" in picker.rejected(order, "READY_FOR_PICKUP", picked(order["items"][0]), new)["message"]


def test_the_order_of_the_two_halves_does_not_matter(picker):
    order = picker.place("JAM")
    gone, new = replacing(order["items"][0], "BREAD")
    assert by_sku(picker.done(order, "READY_FOR_PICKUP", new, gone), "BREAD")["status"] == "IN_CART"


def test_the_replacing_item_needs_a_quantity(picker):
    order = picker.place("JAM")
    gone, new = replacing(order["items"][0], "BREAD")
    new["pricing"] = {"unit_price": 1.0}
    answer = picker.rejected(order, "READY_FOR_PICKUP", gone, new)
    assert (answer["code"], "quantity" in answer["message"]) == ("INVALID_CART_UPDATE", True)


def test_only_products_of_the_vendors_catalog_replace(picker):
    order = picker.place("JAM")
    assert (
        picker.rejected(order, "READY_FOR_PICKUP", *replacing(order["items"][0], "NOWHERE"))["code"] == "ITEM_NOT_FOUND"
    )


def test_an_inactive_product_replaces_and_is_not_reactivated(picker):
    order = picker.place("JAM")
    after = picker.done(order, "READY_FOR_PICKUP", *replacing(order["items"][0], "OLD"))
    assert by_sku(after, "OLD")["pricing"]["total_price"] == 1.0
    assert picker.platform.products(STORE)["OLD"]["active"] is False


def test_a_weighed_item_is_replaced_by_a_weighed_one_with_its_final_weight(picker):
    order = picker.place({"sku": "CHEESE", "quantity": 1, "weight": 0.5})
    after = picker.done(order, "READY_FOR_PICKUP", *replacing(order["items"][0], "GOUDA", weight=0.55))
    assert by_sku(after, "GOUDA")["pricing"]["total_price"] == 5.5
    assert by_sku(after, "GOUDA")["pricing"]["weight"] == 0.55


def test_a_weighed_item_is_replaced_by_pieces(picker):
    order = picker.place({"sku": "CHEESE", "quantity": 1, "weight": 0.5})
    after = picker.done(order, "READY_FOR_PICKUP", *replacing(order["items"][0], "JAM", quantity=2))
    assert by_sku(after, "JAM")["pricing"]["total_price"] == 6.0


def test_pieces_are_not_replaced_by_a_weighed_item(picker):
    order = picker.place("HONEY")
    picker.rejected(order, "READY_FOR_PICKUP", *replacing(order["items"][0], "GOUDA", weight=0.1))


def test_a_weighed_replacement_needs_its_weight(picker):
    order = picker.place("CHEESE")
    assert (
        picker.rejected(order, "READY_FOR_PICKUP", *replacing(order["items"][0], "GOUDA"))["code"]
        == "INVALID_CART_UPDATE"
    )


def test_an_item_has_one_replacement_at_most(picker):
    order = picker.place("HONEY")
    gone, bread = replacing(order["items"][0], "BREAD")
    milk = {**bread, "sku": "MILK"}
    assert "one replacement" in picker.rejected(order, "READY_FOR_PICKUP", gone, bread, milk)["message"]


@pytest.mark.parametrize("quantity", [1, 3])
def test_a_replacement_that_costs_the_same_or_less_is_accepted(picker, quantity):
    order = picker.place({"sku": "JAM", "quantity": 2})
    after = picker.done(order, "READY_FOR_PICKUP", *replacing(order["items"][0], "BREAD", quantity=quantity))
    assert by_sku(after, "BREAD")["pricing"]["total_price"] == 2.0 * quantity


def test_a_more_expensive_replacement_is_accepted_and_not_reflected(picker):
    order = picker.place("JAM", "MILK")
    jam, milk = order["items"]
    after = picker.done(order, "READY_FOR_PICKUP", *replacing(jam, "HONEY"), picked(milk))
    assert after["status"] == "READY_FOR_PICKUP"
    assert [(item["sku"], item["status"]) for item in after["items"]] == [("JAM", "NOT_PROCESSED"), ("MILK", "IN_CART")]
    assert after["sub_total"] == order["sub_total"]
    assert [item["sku"] for item in picker.events()[-1]["items"]] == ["JAM", "MILK"]


def test_a_lower_price_of_its_own_makes_a_replacement_cheap_enough(picker):
    order = picker.place("JAM")
    after = picker.done(order, "READY_FOR_PICKUP", *replacing(order["items"][0], "HONEY", unit_price=3.0))
    assert by_sku(after, "HONEY")["pricing"]["total_price"] == 3.0


def test_no_promotion_is_applied_to_a_replacement(picker, promote):
    promote({"sku": ["BREAD"], "discount_subtype": "FINAL_PRICE", "discount_value": 0.5})
    order = picker.place("JAM")
    bread = by_sku(picker.done(order, "READY_FOR_PICKUP", *replacing(order["items"][0], "BREAD")), "BREAD")
    assert (bread["promotion"], bread["pricing"]["unit_price"]) == ([], 2.0)


def test_a_replaced_item_is_not_replaced_a_second_time(picker):
    order = picker.place("JAM", "MILK", transport_type="VENDOR_DELIVERY")
    jam, milk = order["items"]
    picker.done(order, "ACCEPTED", *replacing(jam, "BREAD"), accepted_for="2026-05-01T18:30:00Z")
    assert picker.rejected(order, "DISPATCHED", *replacing(jam, "OLD"), picked(milk))["code"] == "ITEM_NOT_FOUND"
