"""interface.md 3.1, 4.8.1, 4.8.2: which status follows which, row by row."""

from __future__ import annotations

import pytest

from order_picker import picked

ACCEPTED_FOR = {"accepted_for": "2026-05-01T18:30:00.000Z"}
VENDOR = {"transport_type": "VENDOR_DELIVERY"}
PLATFORM: dict[str, str] = {}
PLATFORM_STATES = ("RECEIVED", "READY_FOR_PICKUP", "DISPATCHED", "PICKED_UP", "CANCELLED")
VENDOR_STATES = ("RECEIVED", "ACCEPTED", "DISPATCHED", "PICKED_UP", "CANCELLED")
EVERY_STATE = [(PLATFORM, state) for state in PLATFORM_STATES] + [(VENDOR, state) for state in VENDOR_STATES]
IN_PROGRESS = [(options, state) for options, state in EVERY_STATE if state not in {"PICKED_UP", "CANCELLED"}]


def names(values: list[tuple[dict[str, str], str]]) -> list[str]:
    return [f"{'vendor' if options else 'platform'}-{state}" for options, state in values]


@pytest.fixture
def in_state(picker):
    """An order of a transport type brought to a state."""

    def bring(state: str, **options: str):
        order = picker.place("MILK", **options)
        by_vendor = options.get("transport_type") == "VENDOR_DELIVERY"
        fulfilled = "DISPATCHED" if by_vendor else "READY_FOR_PICKUP"
        if state == "ACCEPTED":
            picker.done(order, "ACCEPTED", **ACCEPTED_FOR)
        elif state == "CANCELLED":
            picker.platform.control("POST", f"orders/{order['order_id']}/cancel")
        elif state != "RECEIVED":
            picker.done(order, fulfilled, picked(order["items"][0]))
            if state == "DISPATCHED" and not by_vendor:
                picker.platform.control("POST", f"orders/{order['order_id']}/dispatch")
            elif state == "PICKED_UP":
                picker.platform.control("POST", f"orders/{order['order_id']}/pick-up")
        assert picker.get(order)["status"].upper() == state
        return order

    return bring


@pytest.mark.slow
@pytest.mark.parametrize(("options", "state"), EVERY_STATE, ids=names(EVERY_STATE))
@pytest.mark.parametrize("wanted", ["ACCEPTED", "READY_FOR_PICKUP", "DISPATCHED"])
def test_a_put_moves_an_order_only_as_in_the_table(picker, in_state, options, state, wanted):
    order = in_state(state, **options)
    allowed = {
        "ACCEPTED": bool(options) and state == "RECEIVED",
        "READY_FOR_PICKUP": not options and state in {"RECEIVED", "ACCEPTED"},
        "DISPATCHED": bool(options) and state in {"RECEIVED", "ACCEPTED"},
    }[wanted]
    sent = [] if wanted == "ACCEPTED" else [picked(order["items"][0])]
    more = ACCEPTED_FOR if wanted == "ACCEPTED" else {}
    if allowed:
        assert picker.done(order, wanted, *sent, **more)["status"] == wanted
        assert picker.get(order)["status"] == wanted
    else:
        assert picker.rejected(order, wanted, *sent, **more)["code"] == "INVALID_STATUS"


def test_accepted_needs_accepted_for(picker):
    order = picker.place("MILK", **VENDOR)
    assert "accepted_for" in picker.rejected(order, "ACCEPTED")["message"]


def test_accepted_may_need_enablement_for_the_chain(picker):
    picker.platform.control("PUT", "settings", {"order_acceptance": "disabled"})
    order = picker.place("MILK", **VENDOR)
    assert "not enabled" in picker.rejected(order, "ACCEPTED", **ACCEPTED_FOR)["message"]


def test_accepted_sends_no_event(picker):
    picker.done(picker.place("MILK", **VENDOR), "ACCEPTED", **ACCEPTED_FOR)
    assert picker.event_names() == ["RECEIVED"]


def test_vendor_delivery_is_dispatched_after_acceptance_by_a_separate_put(picker):
    order = picker.place("MILK", **VENDOR)
    picker.done(order, "ACCEPTED", **ACCEPTED_FOR)
    assert picker.done(order, "DISPATCHED", picked(order["items"][0]))["status"] == "DISPATCHED"


def test_the_event_of_a_vendors_dispatch_is_ready_for_pickup_and_no_other(picker):
    order = picker.place("MILK", **VENDOR)
    picker.done(order, "DISPATCHED", picked(order["items"][0]))
    assert picker.event_names() == ["RECEIVED", "READY_FOR_PICKUP"]
    assert picker.get(order)["status"] == "DISPATCHED"


@pytest.mark.parametrize("transport", ["LOGISTICS_DELIVERY", "VENDOR_DELIVERY"])
def test_an_order_that_is_collected_is_fulfilled_with_ready_for_pickup(picker, transport):
    order = picker.place("MILK", order_type="PICKUP", transport_type=transport)
    assert picker.rejected(order, "DISPATCHED", picked(order["items"][0]))["code"] == "INVALID_STATUS"
    assert picker.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))["status"] == "READY_FOR_PICKUP"


@pytest.mark.slow
@pytest.mark.parametrize(("options", "state"), EVERY_STATE, ids=names(EVERY_STATE))
def test_update_cart_is_answered_in_any_state_and_changes_none(picker, in_state, options, state):
    order = in_state(state, **options)
    before = picker.get(order)
    answer = picker.done(order, "UPDATE_CART", picked(order["items"][0]))
    assert answer["status"] == state
    assert picker.get(order) == before


@pytest.mark.slow
@pytest.mark.parametrize(("options", "state"), IN_PROGRESS, ids=names(IN_PROGRESS))
@pytest.mark.parametrize("by", ["CUSTOMER", "LOGISTICS"])
def test_customer_and_logistics_cancel_an_order_in_progress(picker, in_state, options, state, by):
    order = in_state(state, **options)
    before = len(picker.events())
    answer = picker.platform.control("POST", f"orders/{order['order_id']}/cancel", {"by": by})
    assert answer["status"] == "CANCELLED"
    assert answer["cancellation"]["cancelled_by"] == by
    assert picker.event_names()[before:] == ["CANCELLED"]


@pytest.mark.parametrize("state", ["PICKED_UP", "CANCELLED"])
def test_an_ended_order_is_not_cancelled_again(picker, in_state, state):
    order = in_state(state)
    with pytest.raises(RuntimeError, match="409"):
        picker.platform.control("POST", f"orders/{order['order_id']}/cancel")


@pytest.mark.parametrize(("options", "state"), EVERY_STATE, ids=names(EVERY_STATE))
@pytest.mark.parametrize("status", ["READY_FOR_PICKUP", "UPDATE_CART"])
def test_an_item_with_id_and_without_sku_cancels_the_order_in_any_state(picker, in_state, options, state, status):
    order = in_state(state, **options)
    before = len(picker.events())
    answer = picker.done(order, status, {"_id": order["items"][0]["_id"], "status": "IN_CART"})
    assert answer["status"] == "CANCELLED"
    assert picker.get(order)["status"] == "cancelled"
    assert picker.event_names()[before:] == []


def test_a_setting_makes_a_validation_reject_what_cancels_an_order(picker):
    picker.platform.control("PUT", "settings", {"order_validation_without_sku": "rejected"})
    order = picker.place("MILK")
    assert (
        "sku"
        in picker.rejected(order, "UPDATE_CART", {"_id": order["items"][0]["_id"], "status": "IN_CART"})["message"]
    )


def test_a_platform_order_is_dispatched_by_its_rider_with_an_event(picker, in_state):
    order = in_state("READY_FOR_PICKUP")
    assert picker.platform.control("POST", f"orders/{order['order_id']}/dispatch")["status"] == "DISPATCHED"
    assert picker.event_names() == ["RECEIVED", "READY_FOR_PICKUP", "DISPATCHED"]


@pytest.mark.parametrize("options", [VENDOR, {"order_type": "PICKUP"}], ids=["vendor", "pickup"])
def test_no_rider_takes_an_order_that_no_rider_delivers(picker, in_state, options):
    order = in_state("DISPATCHED" if options == VENDOR else "READY_FOR_PICKUP", **options)
    with pytest.raises(RuntimeError, match="409"):
        picker.platform.control("POST", f"orders/{order['order_id']}/dispatch")


def test_history_shows_picked_up_and_cancelled(picker, in_state):
    assert picker.get(in_state("PICKED_UP"))["status"] == "picked_up"
    assert picker.get(in_state("CANCELLED"))["status"] == "cancelled"
    picker.platform.control("PUT", "settings", {"order_ended_status": "upper"})
    assert picker.get(in_state("PICKED_UP"))["status"] == "PICKED_UP"


def test_a_pick_up_sends_no_event(picker, in_state):
    in_state("PICKED_UP")
    assert picker.event_names() == ["RECEIVED", "READY_FOR_PICKUP"]
