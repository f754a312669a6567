"""interface.md 6, 5.6 and the field notes: the events of orders that the partner receives."""

from __future__ import annotations

import pytest

from order_picker import by_sku, picked

ACCEPTED_FOR = {"accepted_for": "2026-05-01T18:30:00Z"}


def cancel(picker, order) -> None:
    picker.platform.control("POST", f"orders/{order['order_id']}/cancel")


def test_the_body_is_the_order_with_no_envelope(picker):
    order = picker.place("MILK")
    assert picker.events() == [order]


def test_the_received_event_has_what_section_6_lists(picker):
    picker.place("MILK", loyalty_program={"loyalty_card": "L-1"}, replacement_preferences={"any": True})
    (event,) = picker.events()
    assert (event["transport_type"], event["order_type"]) == ("LOGISTICS_DELIVERY", "DELIVERY")
    assert event["loyalty_program"]["loyalty_card"] == "L-1"
    assert event["replacement_preferences"] == {"any": True}
    assert event["promised_for"] > event["sys"]["created_at"]
    assert all(item["original_pricing"] and item["promotion"] == [] for item in event["items"])


@pytest.mark.parametrize("secret", ["anything at all", "Basic dXNlcjpwYXNzd29yZA=="])
def test_the_secret_is_verbatim_in_the_authorization_header(picker, receiver, secret):
    picker.platform.put_webhook(order_url=receiver.url, secret=secret)
    picker.place("MILK")
    picker.events()
    assert [call.authorization for call in receiver.received] == [secret]


def test_nothing_is_sent_without_a_secret(picker, receiver):
    picker.platform.control("PUT", "chains/demo-chain/webhook", {"order_url": receiver.url})
    picker.place("MILK")
    assert picker.events() == []


def test_a_platform_delivery_sends_every_event_from_received_to_dispatched(picker):
    order = picker.place("MILK")
    picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))
    picker.platform.control("POST", f"orders/{order['order_id']}/dispatch")
    picker.platform.control("POST", f"orders/{order['order_id']}/pick-up")
    assert picker.event_names() == ["RECEIVED", "READY_FOR_PICKUP", "DISPATCHED"]


def test_a_vendor_delivery_sends_received_and_ready_for_pickup(picker):
    order = picker.place("MILK", transport_type="VENDOR_DELIVERY")
    picker.done(order, "ACCEPTED", **ACCEPTED_FOR)
    picker.done(order, "UPDATE_CART", picked(order["items"][0]))
    picker.done(order, "DISPATCHED", picked(order["items"][0]))
    assert picker.event_names() == ["RECEIVED", "READY_FOR_PICKUP"]


def test_the_event_of_a_cancellation_holds_the_order(picker):
    order = picker.place("MILK")
    cancel(picker, order)
    event = picker.events()[-1]
    assert (event["status"], event["order_id"]) == ("CANCELLED", order["order_id"])
    assert event["cancellation"] == {"reason": "CHANGED_MIND", "cancelled_by": "CUSTOMER"}


def test_a_rejected_put_sends_no_event(picker):
    order = picker.place("MILK")
    picker.rejected(order, "READY_FOR_PICKUP", picked(order["items"][0], quantity=99))
    assert picker.event_names() == ["RECEIVED"]


def test_no_two_events_of_an_order_have_the_same_status_and_time(picker):
    order = picker.place("MILK", "BREAD")
    picker.done(order, "READY_FOR_PICKUP", *(picked(item) for item in order["items"]))
    cancel(picker, order)
    identities = [(event["order_id"], event["status"], event["sys"]["updated_at"]) for event in picker.events()]
    assert len(set(identities)) == 3
    assert [time for *_, time in identities] == sorted({time for *_, time in identities})


def test_a_setting_delays_the_first_event_until_the_order_is_ready(picker):
    picker.platform.control("PUT", "settings", {"order_first_event": "READY_FOR_PICKUP"})
    order = picker.place("MILK")
    picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))
    assert picker.event_names() == ["READY_FOR_PICKUP"]


def test_orders_and_jobs_have_addresses_of_their_own(picker, receiver):
    picker.platform.put_webhook(order_url=receiver.url + "/orders")
    picker.place("MILK")
    picker.partner.put(
        "/v2/chains/demo-chain/vendors/store-001/catalog", json={"products": [{"sku": "MILK", "price": 1}]}
    )
    picker.events()
    assert [call.path for call in receiver.received] == ["/events/orders"]


def test_any_2xx_is_success_and_anything_else_is_tried_up_to_five_times_more(picker, receiver):
    receiver.statuses[:] = [500, 404, 302, 201]
    picker.place("MILK")
    picker.platform.advance(3600)
    assert len(receiver.received) == 4
    receiver.clear()
    receiver.statuses[:] = [503] * 10
    picker.place("MILK")
    picker.platform.advance(3600)
    assert len(receiver.received) == 6
    assert len({str(call.body) for call in receiver.received}) == 1


def test_the_partner_has_ten_seconds_to_answer(platform):
    assert platform.control("GET", "settings")["webhook_timeout_s"] == 10


def test_the_partner_may_cancel_with_every_item_not_found(picker):
    order = picker.place("MILK", "BREAD")
    why = {"cancellation": {"reason": "TOO_BUSY", "cancelled_by": "VENDOR"}}
    after = picker.done(order, "CANCELLED", *(picked(item, "NOT_FOUND") for item in order["items"]), **why)
    assert (after["status"], after["cancellation"]) == ("CANCELLED", why["cancellation"])
    assert {item["status"] for item in after["items"]} == {"NOT_FOUND"}
    assert picker.event_names() == ["RECEIVED"]


@pytest.mark.parametrize(
    ("statuses", "cancellation", "field"),
    [
        (("NOT_FOUND", "IN_CART"), {"reason": "CLOSED"}, "items[1]"),
        (("NOT_FOUND",), {"reason": "CLOSED"}, "BREAD"),
        ((), {"reason": "CLOSED"}, "items"),
        (("NOT_FOUND", "NOT_FOUND"), None, "cancellation"),
        (("NOT_FOUND", "NOT_FOUND"), {"reason": "BORED"}, "cancellation.reason"),
        (("NOT_FOUND", "NOT_FOUND"), {"reason": "CLOSED", "cancelled_by": "CUSTOMER"}, "cancellation.cancelled_by"),
    ],
)
def test_an_incomplete_cancellation_is_rejected(picker, statuses, cancellation, field):
    order = picker.place("MILK", "BREAD")
    items = [picked(item, status) for item, status in zip(order["items"], statuses, strict=False)]
    more = {} if cancellation is None else {"cancellation": cancellation}
    assert field in picker.rejected(order, "CANCELLED", *items, **more)["message"]


def test_a_fulfilled_order_is_not_cancelled_by_the_partner(picker):
    order = picker.place("MILK")
    picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))
    why = {"cancellation": {"reason": "CLOSED"}}
    answer = picker.rejected(order, "CANCELLED", picked(order["items"][0], "NOT_FOUND"), **why)
    assert answer["code"] == "INVALID_STATUS"


def test_a_setting_sends_the_event_of_the_partners_own_cancellation_too(picker):
    picker.platform.control("PUT", "settings", {"order_cancelled_event": "always"})
    order = picker.place("MILK")
    picker.done(order, "CANCELLED", picked(order["items"][0], "NOT_FOUND"), cancellation={"reason": "CLOSED"})
    again = picker.place("MILK")
    picker.done(again, "READY_FOR_PICKUP", {"_id": again["items"][0]["_id"], "status": "IN_CART"})
    names = [
        (event["order_id"], event["status"]) for event in picker.events()
    ]  # events of two orders may overtake one another
    for one in (order, again):
        assert [status for order_id, status in names if order_id == one["order_id"]] == ["RECEIVED", "CANCELLED"]


def test_the_journal_has_every_webhook_of_an_order(picker):
    order = picker.place("MILK")
    picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))
    picker.events()
    entries = picker.platform.journal()["entries"]
    webhooks = [entry for entry in entries if entry["kind"] == "webhook"]
    assert [(entry["operation"], entry["status"]) for entry in webhooks] == [("order_webhook", 204)] * 2
    assert [entry["operation"] for entry in entries if entry["method"] == "PUT"] == ["put_order"]


def test_a_placed_order_is_what_a_customer_could_order(picker):
    def rejection(*lines, **options) -> str:
        with pytest.raises(RuntimeError, match="400") as caught:
            picker.place(*lines, **options)
        return str(caught.value)

    assert "no such product" in rejection("NOWHERE")
    assert "available" in rejection("OLD")
    assert "at most" in rejection({"sku": "BREAD", "quantity": 6})
    assert "at most" in rejection({"sku": "BREAD", "quantity": 3}, {"sku": "BREAD", "quantity": 3})
    assert "whole number" in rejection({"sku": "MILK", "quantity": 1.5})
    assert "weight" in rejection({"sku": "MILK", "quantity": 1, "weight": 1})
    assert "future" in rejection("MILK", placed_at="2999-01-01T00:00:00Z")
    assert picker.events() == []


def test_a_customer_pays_what_the_app_shows_not_what_the_platform_already_has(picker):
    picker.partner.put(
        "/v2/chains/demo-chain/vendors/store-001/catalog", json={"products": [{"sku": "MILK", "price": 9}]}
    )
    picker.platform.advance(899)
    assert by_sku(picker.place("MILK"), "MILK")["pricing"]["unit_price"] == 1.5
    picker.platform.advance(2)
    assert by_sku(picker.place("MILK"), "MILK")["pricing"]["unit_price"] == 9.0
