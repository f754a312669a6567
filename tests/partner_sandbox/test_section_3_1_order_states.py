"""interface.md 3.1, 4.8.1, 4.8.2: which status follows which, row by row."""

from __future__ import annotations

import pytest

from order_desk import picked

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
def in_state(desk):
    """An order of a transport type brought to a state."""

    def bring(state: str, **options: str):
        order = desk.place("MILK", **options)
        by_vendor = options.get("transport_type") == "VENDOR_DELIVERY"
        fulfilled = "DISPATCHED" if by_vendor else "READY_FOR_PICKUP"
        if state == "ACCEPTED":
            desk.done(order, "ACCEPTED", **ACCEPTED_FOR)
        elif state == "CANCELLED":
            desk.platform.control("POST", f"orders/{order['order_id']}/cancel")
        elif state != "RECEIVED":
            desk.done(order, fulfilled, picked(order["items"][0]))
            if state == "DISPATCHED" and not by_vendor:
                desk.platform.control("POST", f"orders/{order['order_id']}/dispatch")
            elif state == "PICKED_UP":
                desk.platform.control("POST", f"orders/{order['order_id']}/pick-up")
        assert desk.get(order)["status"].upper() == state
        return order

    return bring


@pytest.mark.parametrize(("options", "state"), EVERY_STATE, ids=names(EVERY_STATE))
@pytest.mark.parametrize("wanted", ["ACCEPTED", "READY_FOR_PICKUP", "DISPATCHED"])
def test_a_put_moves_an_order_only_as_the_table_says(desk, in_state, options, state, wanted):
    order = in_state(state, **options)
    allowed = {
        "ACCEPTED": bool(options) and state == "RECEIVED",
        "READY_FOR_PICKUP": not options and state in {"RECEIVED", "ACCEPTED"},
        "DISPATCHED": bool(options) and state in {"RECEIVED", "ACCEPTED"},
    }[wanted]
    sent = [] if wanted == "ACCEPTED" else [picked(order["items"][0])]
    more = ACCEPTED_FOR if wanted == "ACCEPTED" else {}
    if allowed:
        assert desk.done(order, wanted, *sent, **more)["status"] == wanted
        assert desk.get(order)["status"] == wanted
    else:
        assert desk.refused(order, wanted, *sent, **more)["code"] == "INVALID_STATUS"


def test_accepted_needs_accepted_for(desk):
    order = desk.place("MILK", **VENDOR)
    assert "accepted_for" in desk.refused(order, "ACCEPTED")["message"]


def test_accepted_may_need_enablement_for_the_chain(desk):
    desk.platform.control("PUT", "settings", {"order_acceptance": "disabled"})
    order = desk.place("MILK", **VENDOR)
    assert "not enabled" in desk.refused(order, "ACCEPTED", **ACCEPTED_FOR)["message"]


def test_accepted_sends_no_event(desk):
    desk.done(desk.place("MILK", **VENDOR), "ACCEPTED", **ACCEPTED_FOR)
    assert desk.happened() == ["RECEIVED"]


def test_vendor_delivery_is_dispatched_after_acceptance_by_a_separate_put(desk):
    order = desk.place("MILK", **VENDOR)
    desk.done(order, "ACCEPTED", **ACCEPTED_FOR)
    assert desk.done(order, "DISPATCHED", picked(order["items"][0]))["status"] == "DISPATCHED"


def test_the_event_of_a_vendors_dispatch_is_ready_for_pickup_and_no_other(desk):
    order = desk.place("MILK", **VENDOR)
    desk.done(order, "DISPATCHED", picked(order["items"][0]))
    assert desk.happened() == ["RECEIVED", "READY_FOR_PICKUP"]
    assert desk.get(order)["status"] == "DISPATCHED"


@pytest.mark.parametrize("transport", ["LOGISTICS_DELIVERY", "VENDOR_DELIVERY"])
def test_an_order_that_is_collected_is_fulfilled_with_ready_for_pickup(desk, transport):
    order = desk.place("MILK", order_type="PICKUP", transport_type=transport)
    assert desk.refused(order, "DISPATCHED", picked(order["items"][0]))["code"] == "INVALID_STATUS"
    assert desk.done(order, "READY_FOR_PICKUP", picked(order["items"][0]))["status"] == "READY_FOR_PICKUP"


@pytest.mark.parametrize(("options", "state"), EVERY_STATE, ids=names(EVERY_STATE))
def test_update_cart_is_answered_in_any_state_and_changes_none(desk, in_state, options, state):
    order = in_state(state, **options)
    before = desk.get(order)
    answer = desk.done(order, "UPDATE_CART", picked(order["items"][0]))
    assert answer["status"] == state
    assert desk.get(order) == before


@pytest.mark.parametrize(("options", "state"), IN_PROGRESS, ids=names(IN_PROGRESS))
@pytest.mark.parametrize("by", ["CUSTOMER", "LOGISTICS"])
def test_customer_and_logistics_cancel_an_order_in_progress(desk, in_state, options, state, by):
    order = in_state(state, **options)
    told = len(desk.events())
    answer = desk.platform.control("POST", f"orders/{order['order_id']}/cancel", {"by": by})
    assert answer["status"] == "CANCELLED"
    assert answer["cancellation"]["cancelled_by"] == by
    assert desk.happened()[told:] == ["CANCELLED"]


@pytest.mark.parametrize("state", ["PICKED_UP", "CANCELLED"])
def test_an_ended_order_is_not_cancelled_again(desk, in_state, state):
    order = in_state(state)
    with pytest.raises(RuntimeError, match="409"):
        desk.platform.control("POST", f"orders/{order['order_id']}/cancel")


@pytest.mark.parametrize(("options", "state"), EVERY_STATE, ids=names(EVERY_STATE))
@pytest.mark.parametrize("status", ["READY_FOR_PICKUP", "UPDATE_CART"])
def test_an_item_with_id_and_without_sku_cancels_the_order_in_any_state(desk, in_state, options, state, status):
    order = in_state(state, **options)
    told = len(desk.events())
    answer = desk.done(order, status, {"_id": order["items"][0]["_id"], "status": "IN_CART"})
    assert answer["status"] == "CANCELLED"
    assert desk.get(order)["status"] == "cancelled"
    assert desk.happened()[told:] == []


def test_a_validation_can_be_told_to_refuse_what_would_cancel(desk):
    desk.platform.control("PUT", "settings", {"order_validation_without_sku": "refused"})
    order = desk.place("MILK")
    assert (
        "sku" in desk.refused(order, "UPDATE_CART", {"_id": order["items"][0]["_id"], "status": "IN_CART"})["message"]
    )


def test_a_platform_order_is_dispatched_by_its_rider_with_an_event(desk, in_state):
    order = in_state("READY_FOR_PICKUP")
    assert desk.platform.control("POST", f"orders/{order['order_id']}/dispatch")["status"] == "DISPATCHED"
    assert desk.happened() == ["RECEIVED", "READY_FOR_PICKUP", "DISPATCHED"]


@pytest.mark.parametrize("options", [VENDOR, {"order_type": "PICKUP"}], ids=["vendor", "pickup"])
def test_no_rider_takes_what_no_rider_delivers(desk, in_state, options):
    order = in_state("DISPATCHED" if options == VENDOR else "READY_FOR_PICKUP", **options)
    with pytest.raises(RuntimeError, match="409"):
        desk.platform.control("POST", f"orders/{order['order_id']}/dispatch")


def test_history_shows_picked_up_and_cancelled(desk, in_state):
    assert desk.get(in_state("PICKED_UP"))["status"] == "picked_up"
    assert desk.get(in_state("CANCELLED"))["status"] == "cancelled"
    desk.platform.control("PUT", "settings", {"order_ended_status": "upper"})
    assert desk.get(in_state("PICKED_UP"))["status"] == "PICKED_UP"


def test_a_pick_up_sends_no_event(desk, in_state):
    in_state("PICKED_UP")
    assert desk.happened() == ["RECEIVED", "READY_FOR_PICKUP"]
