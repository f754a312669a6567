"""interface.md 6, 5.6 and the field notes: what the partner is told of its orders, and how."""

from __future__ import annotations

import pytest

from order_desk import by_sku, picked

ACCEPTED_FOR = {"accepted_for": "2026-05-01T18:30:00Z"}


def cancel(desk, order) -> None:
    desk.platform.control("POST", f"orders/{order['order_id']}/cancel")


def test_the_body_is_the_order_with_no_envelope(desk):
    order = desk.place("MILK")
    assert desk.events() == [order]


def test_the_received_event_has_what_section_6_lists(desk):
    desk.place("MILK", loyalty_program={"loyalty_card": "L-1"}, replacement_preferences={"any": True})
    (event,) = desk.events()
    assert (event["transport_type"], event["order_type"]) == ("LOGISTICS_DELIVERY", "DELIVERY")
    assert event["loyalty_program"]["loyalty_card"] == "L-1"
    assert event["replacement_preferences"] == {"any": True}
    assert event["promised_for"] > event["sys"]["created_at"]
    assert all(item["original_pricing"] and item["promotion"] == [] for item in event["items"])


@pytest.mark.parametrize("secret", ["anything at all", "Basic dXNlcjpwYXNzd29yZA=="])
def test_the_secret_stands_verbatim_in_the_authorization_header(desk, receiver, secret):
    desk.platform.put_webhook(order_url=receiver.url, secret=secret)
    desk.place("MILK")
    desk.events()
    assert [call.authorization for call in receiver.received] == [secret]


def test_nothing_is_sent_without_a_secret(desk, receiver):
    desk.platform.control("PUT", "chains/demo-chain/webhook", {"order_url": receiver.url})
    desk.place("MILK")
    assert desk.events() == []


def test_a_platform_delivery_tells_of_every_step_from_received_to_dispatched(desk):
    order = desk.place("MILK")
    desk.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))
    desk.platform.control("POST", f"orders/{order['order_id']}/dispatch")
    desk.platform.control("POST", f"orders/{order['order_id']}/pick-up")
    assert desk.happened() == ["RECEIVED", "READY_FOR_PICKUP", "DISPATCHED"]


def test_a_vendor_delivery_tells_of_received_and_ready_for_pickup(desk):
    order = desk.place("MILK", transport_type="VENDOR_DELIVERY")
    desk.done(order, "ACCEPTED", **ACCEPTED_FOR)
    desk.done(order, "UPDATE_CART", picked(order["items"][0]))
    desk.done(order, "DISPATCHED", picked(order["items"][0]))
    assert desk.happened() == ["RECEIVED", "READY_FOR_PICKUP"]


def test_a_cancellation_is_told_with_the_order(desk):
    order = desk.place("MILK")
    cancel(desk, order)
    event = desk.events()[-1]
    assert (event["status"], event["order_id"]) == ("CANCELLED", order["order_id"])
    assert event["cancellation"] == {"reason": "CHANGED_MIND", "cancelled_by": "CUSTOMER"}


def test_a_refused_put_sends_no_event(desk):
    order = desk.place("MILK")
    desk.refused(order, "READY_FOR_PICKUP", picked(order["items"][0], quantity=99))
    assert desk.happened() == ["RECEIVED"]


def test_no_two_events_of_an_order_have_the_same_status_and_time(desk):
    order = desk.place("MILK", "BREAD")
    desk.done(order, "READY_FOR_PICKUP", *(picked(item) for item in order["items"]))
    cancel(desk, order)
    identities = [(event["order_id"], event["status"], event["sys"]["updated_at"]) for event in desk.events()]
    assert len(set(identities)) == 3
    assert [time for *_, time in identities] == sorted({time for *_, time in identities})


def test_some_stores_hear_of_an_order_only_when_it_is_ready(desk):
    desk.platform.control("PUT", "settings", {"order_first_event": "READY_FOR_PICKUP"})
    order = desk.place("MILK")
    desk.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))
    assert desk.happened() == ["READY_FOR_PICKUP"]


def test_orders_and_jobs_have_addresses_of_their_own(desk, receiver):
    desk.platform.put_webhook(order_url=receiver.url + "/orders")
    desk.place("MILK")
    desk.partner.put(
        "/v2/chains/demo-chain/vendors/store-001/catalog", json={"products": [{"sku": "MILK", "price": 1}]}
    )
    desk.events()
    assert [call.path for call in receiver.received] == ["/events/orders"]


def test_any_2xx_is_success_and_anything_else_is_tried_up_to_five_times_more(desk, receiver):
    receiver.statuses[:] = [500, 404, 302, 201]
    desk.place("MILK")
    desk.platform.advance(3600)
    assert len(receiver.received) == 4
    receiver.clear()
    receiver.statuses[:] = [503] * 10
    desk.place("MILK")
    desk.platform.advance(3600)
    assert len(receiver.received) == 6
    assert len({str(call.body) for call in receiver.received}) == 1


def test_the_partner_has_ten_seconds_to_answer(platform):
    assert platform.control("GET", "settings")["webhook_timeout_s"] == 10


def test_the_partner_may_cancel_with_every_item_not_found(desk):
    order = desk.place("MILK", "BREAD")
    why = {"cancellation": {"reason": "TOO_BUSY", "cancelled_by": "VENDOR"}}
    after = desk.done(order, "CANCELLED", *(picked(item, "NOT_FOUND") for item in order["items"]), **why)
    assert (after["status"], after["cancellation"]) == ("CANCELLED", why["cancellation"])
    assert {item["status"] for item in after["items"]} == {"NOT_FOUND"}
    assert desk.happened() == ["RECEIVED"]


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
def test_half_a_cancellation_is_refused(desk, statuses, cancellation, field):
    order = desk.place("MILK", "BREAD")
    items = [picked(item, status) for item, status in zip(order["items"], statuses, strict=False)]
    more = {} if cancellation is None else {"cancellation": cancellation}
    assert field in desk.refused(order, "CANCELLED", *items, **more)["message"]


def test_a_fulfilled_order_is_not_cancelled_by_the_partner(desk):
    order = desk.place("MILK")
    desk.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))
    why = {"cancellation": {"reason": "CLOSED"}}
    answer = desk.refused(order, "CANCELLED", picked(order["items"][0], "NOT_FOUND"), **why)
    assert answer["code"] == "INVALID_STATUS"


def test_a_dialect_tells_the_partner_of_its_own_cancellation_too(desk):
    desk.platform.control("PUT", "settings", {"order_cancelled_event": "always"})
    order = desk.place("MILK")
    desk.done(order, "CANCELLED", picked(order["items"][0], "NOT_FOUND"), cancellation={"reason": "CLOSED"})
    again = desk.place("MILK")
    desk.done(again, "READY_FOR_PICKUP", {"_id": again["items"][0]["_id"], "status": "IN_CART"})
    assert desk.happened() == ["RECEIVED", "CANCELLED", "RECEIVED", "CANCELLED"]


def test_the_journal_has_every_webhook_of_an_order(desk):
    order = desk.place("MILK")
    desk.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))
    desk.events()
    entries = desk.platform.journal()["entries"]
    told = [entry for entry in entries if entry["kind"] == "webhook"]
    assert [(entry["operation"], entry["status"]) for entry in told] == [("order_webhook", 204)] * 2
    assert [entry["operation"] for entry in entries if entry["method"] == "PUT"] == ["put_order"]


def test_a_placed_order_is_what_a_customer_could_order(desk):
    def refused(*lines, **options) -> str:
        with pytest.raises(RuntimeError, match="400") as caught:
            desk.place(*lines, **options)
        return str(caught.value)

    assert "no such product" in refused("NOWHERE")
    assert "available" in refused("OLD")
    assert "at most" in refused({"sku": "BREAD", "quantity": 6})
    assert "at most" in refused({"sku": "BREAD", "quantity": 3}, {"sku": "BREAD", "quantity": 3})
    assert "whole number" in refused({"sku": "MILK", "quantity": 1.5})
    assert "weight" in refused({"sku": "MILK", "quantity": 1, "weight": 1})
    assert "future" in refused("MILK", placed_at="2999-01-01T00:00:00Z")
    assert desk.events() == []


def test_a_customer_pays_what_the_app_shows_not_what_the_platform_already_has(desk):
    desk.partner.put(
        "/v2/chains/demo-chain/vendors/store-001/catalog", json={"products": [{"sku": "MILK", "price": 9}]}
    )
    desk.platform.advance(899)
    assert by_sku(desk.place("MILK"), "MILK")["pricing"]["unit_price"] == 1.5
    desk.platform.advance(2)
    assert by_sku(desk.place("MILK"), "MILK")["pricing"]["unit_price"] == 9.0
