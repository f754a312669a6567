"""interface.md 2.5: the order object."""

from __future__ import annotations

import uuid

import pytest

from order_picker import STORE


def test_an_order_has_every_field_of_the_interface(picker):
    order = picker.place(
        "MILK", loyalty_program={"loyalty_card": "L-7", "voucher_code": "V-1"}, replacement_preferences={"call": True}
    )
    assert set(order) >= {
        "order_id",
        "external_order_id",
        "order_code",
        "transport_type",
        "order_type",
        "status",
        "promised_for",
        "loyalty_program",
        "items",
        "sub_total",
        "order_total",
        "store_id",
        "external_partner_config_id",
        "replacement_preferences",
    }
    assert uuid.UUID(order["order_id"]).version == 4
    assert order["order_id"] not in {order["external_order_id"], order["order_code"]}
    assert order["loyalty_program"] == {"loyalty_card": "L-7", "voucher_code": "V-1"}
    assert order["customer"]["loyalty_card"] == "L-7"
    assert order["customer"]["phone_number"] == "+447700900123"


def test_orders_are_pushed_to_the_webhook_with_the_status_received(picker):
    order = picker.place("MILK")
    (event,) = picker.events()
    assert event == order
    assert event["status"] == "RECEIVED"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ("LOGISTICS_DELIVERY", "DELIVERY")),
        ({"transport_type": "VENDOR_DELIVERY"}, ("VENDOR_DELIVERY", "DELIVERY")),
        ({"order_type": "PICKUP"}, ("LOGISTICS_DELIVERY", "PICKUP")),
    ],
)
def test_transport_and_type_are_those_of_the_customer(picker, options, expected):
    order = picker.place("MILK", **options)
    assert (order["transport_type"], order["order_type"]) == expected


def test_accepted_for_is_returned_in_the_payload_after_acceptance(picker):
    order = picker.place("MILK", transport_type="VENDOR_DELIVERY")
    assert "accepted_for" not in order
    picker.done(order, "ACCEPTED", accepted_for="2026-05-01T18:30:00Z")
    picker.done(order, "DISPATCHED", {"sku": "MILK", "status": "IN_CART"})
    assert [event.get("accepted_for") for event in picker.events()] == [None, "2026-05-01T18:30:00.000Z"]


def test_an_order_that_is_collected_has_no_delivery_address_and_no_delivery_fee(picker):
    collected = picker.place("MILK", order_type="PICKUP")
    assert "delivery_address" not in collected["customer"]
    assert collected["payment"]["delivery_fee"] == 0
    assert "delivery_address" in picker.place("MILK")["customer"]


def test_replacement_preferences_go_with_the_received_event_and_no_later_one(picker):
    order = picker.place("MILK", replacement_preferences={"items": [{"sku": "MILK", "with": "BREAD"}]})
    picker.done(order, "READY_FOR_PICKUP", {"sku": "MILK", "status": "IN_CART"})
    received, ready = picker.events()
    assert received["replacement_preferences"] == {"items": [{"sku": "MILK", "with": "BREAD"}]}
    assert "replacement_preferences" not in ready


def test_a_store_with_its_own_identifier_is_named_by_it_too(picker):
    picker.platform.control("PUT", f"chains/demo-chain/vendors/{STORE}", {"external_partner_config_id": "till-9"})
    order = picker.place("MILK")
    assert (order["store_id"], order["external_partner_config_id"]) == (STORE, "till-9")
    assert order["client"]["external_partner_config_id"] == "till-9"


def test_totals_are_items_and_fees(picker):
    order = picker.place({"sku": "MILK", "quantity": 2}, "BREAD", delivery_fee=1.25, service_fee=0.5)
    assert (order["sub_total"], order["order_total"]) == (5.0, 6.75)
    assert order["payment"] == {
        "type": "PAID",
        "delivery_fee": 1.25,
        "service_fee": 0.5,
        "discount": 0,
        "discounts": [],
        "sub_total": 5.0,
        "order_total": 6.75,
    }


@pytest.mark.parametrize(
    ("shape", "flat", "nested"), [("both", True, True), ("flat", True, False), ("nested", False, True)]
)
def test_identifiers_and_totals_are_where_the_dialect_has_them(picker, shape, flat, nested):
    picker.platform.control("PUT", "settings", {"order_shape": shape})
    order = picker.place("MILK")
    assert ("store_id" in order, "order_total" in order) == (flat, flat)
    assert ("store_id" in order["client"], "order_total" in order["payment"]) == (nested, nested)


def test_there_is_no_currency(picker):
    assert "currency" not in str(picker.place("MILK"))
