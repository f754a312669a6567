"""The faults that can strike promotions, orders and their webhooks."""

from __future__ import annotations

import httpx
import pytest

from order_picker import CHAIN, picked
from promotion_bodies import final, promotion_body


def fulfil(picker, order) -> httpx.Response:
    return picker.put(order, "READY_FOR_PICKUP", picked(order["items"][0]))


@pytest.mark.parametrize("at", ["put_order", "get_order", "list_orders", "put_promotion", "promotion_status"])
@pytest.mark.parametrize("status", [401, 429, 500, 502, 503])
def test_every_operation_answers_a_status_and_does_nothing(picker, at, status):
    order = picker.place("MILK")
    picker.platform.faults({"at": at, "kind": f"status_{status}", "times": 1})
    calls = {
        "put_order": lambda: fulfil(picker, order),
        "get_order": lambda: picker.partner.get(f"{CHAIN}/orders/{order['order_id']}"),
        "list_orders": lambda: picker.partner.get(f"{CHAIN}/vendors/store-001"),
        "put_promotion": lambda: picker.partner.put(
            f"{CHAIN}/promotion", json=promotion_body(picker.platform, final(1, "MILK"))
        ),
        "promotion_status": lambda: picker.partner.get(f"{CHAIN}/promotion/jobs/4711"),
    }
    assert calls[at]().status_code == status
    picker.platform.advance(0)
    assert picker.get(order)["status"] == "RECEIVED"
    assert picker.platform.control("GET", "chains/demo-chain/promotions")["promotions"] == []
    assert calls[at]().status_code in {200, 202, 404}


@pytest.mark.parametrize(
    ("kind", "status"),
    [("refuse_connection", "RECEIVED"), ("drop_answer", "READY_FOR_PICKUP"), ("half_body", "READY_FOR_PICKUP")],
)
def test_a_broken_answer_does_not_show_whether_the_order_changed(picker, kind, status):
    order = picker.place("MILK")
    picker.platform.faults({"at": "put_order", "kind": kind, "times": 1})
    with pytest.raises(httpx.TransportError):
        fulfil(picker, order)
    assert picker.get(order)["status"] == status


def test_a_token_expires_in_mid_run(picker):
    order = picker.place("MILK")
    picker.platform.faults({"at": "put_order", "kind": "token_expired", "times": 1})
    assert [fulfil(picker, order).status_code for _ in range(2)] == [401, 200]


def test_an_order_is_answered_as_requested_and_not_changed(picker):
    order = picker.place("MILK")
    picker.platform.faults({"at": "put_order", "kind": "not_applied", "times": 1})
    assert fulfil(picker, order).json()["status"] == "READY_FOR_PICKUP"
    assert picker.get(order)["status"] == "RECEIVED"
    assert picker.event_names() == ["RECEIVED"]


def test_a_replica_that_lags_answers_the_order_as_it_was(picker):
    order = picker.place("MILK")
    fulfil(picker, order)
    picker.platform.faults({"at": "get_order", "kind": "stale", "times": 1})
    assert [picker.get(order)["status"] for _ in range(2)] == ["RECEIVED", "READY_FOR_PICKUP"]


def test_the_list_answers_its_first_page_for_ever(picker):
    for _ in range(3):
        picker.place("MILK")
    picker.platform.faults(
        {"at": "list_orders", "kind": "first_page_again"}, {"at": "list_orders", "kind": "endless_pages"}
    )
    ends = {"start_time": "2026-01-01T00:00:00", "end_time": "2026-02-01T00:00:00"}
    now = picker.platform.control("GET", "state")["now"].removesuffix("Z")
    ends = {"start_time": now[:10] + "T00:00:00", "end_time": now}
    pages = [
        picker.partner.get(f"{CHAIN}/vendors/store-001", params={**ends, "page": n, "page_size": 1}).json()
        for n in (1, 2)
    ]
    assert pages[0]["orders"] == pages[1]["orders"] != []
    assert [page["total_pages"] for page in pages] == [2, 3]


def test_a_lost_event_never_comes_and_a_repeated_one_comes_thrice(picker):
    picker.platform.faults(
        {"at": "order_webhook", "kind": "webhook_lost", "times": 1},
        {"at": "order_webhook", "kind": "repeated", "after": 1, "times": 1},
    )
    order = picker.place("MILK")
    fulfil(picker, order)
    assert picker.event_names() == ["READY_FOR_PICKUP"] * 3


def test_a_reordered_event_comes_after_a_later_one(picker):
    picker.platform.faults({"at": "order_webhook", "kind": "reordered", "times": 1})
    order = picker.place("MILK")
    fulfil(picker, order)
    assert picker.event_names() == ["READY_FOR_PICKUP", "RECEIVED"]


def test_a_late_event_comes_after_its_delay(picker):
    picker.platform.faults({"at": "order_webhook", "kind": "late", "seconds": 120, "times": 1})
    picker.place("MILK")
    assert picker.events() == []
    picker.platform.advance(120)
    assert picker.event_names() == ["RECEIVED"]


def test_an_early_event_comes_before_the_answer_to_the_put(picker, receiver):
    order = picker.place("MILK")
    picker.events()
    picker.platform.faults({"at": "order_webhook", "kind": "early", "times": 1})
    picker.done(order, "UPDATE_CART", picked(order["items"][0]))  # has no event, and is no occasion
    before = len(receiver.received)
    assert fulfil(picker, order).status_code == 200
    assert len(receiver.received) == before + 1


def test_a_forged_event_comes_first_with_a_wrong_secret(picker, receiver):
    picker.platform.faults({"at": "order_webhook", "kind": "forged_secret", "times": 1})
    picker.place("MILK")
    picker.events()
    assert [call.authorization == "s3cret" for call in receiver.received] == [False, True]


def test_an_oversized_event_is_padded(picker, receiver):
    picker.platform.faults({"at": "order_webhook", "kind": "oversized", "bytes": 5000, "times": 1})
    picker.place("MILK")
    picker.events()
    assert receiver.received[0].bytes > 5000


def test_an_event_names_another_vendor(picker):
    picker.platform.faults({"at": "order_webhook", "kind": "other_vendor", "times": 1})
    picker.place("MILK")
    (event,) = picker.events()
    assert (event["store_id"], event["client"]["store_id"]) == ("store-002", "store-002")


def test_a_promotion_job_fails_or_gets_stuck_or_does_nothing(picker, promote):
    picker.platform.faults({"at": "job", "kind": "failed", "times": 1})
    assert promote(final(1, "MILK"))["job_status"] == "FAILED"
    picker.platform.faults({"at": "job", "kind": "stuck", "times": 1})
    assert promote(final(1, "MILK"))["job_status"] == "QUEUED"
    picker.platform.faults({"at": "job", "kind": "not_applied", "times": 1})
    assert promote(final(1, "MILK"))["job_status"] == "COMPLETED"
    assert picker.platform.control("GET", "chains/demo-chain/promotions")["promotions"] == []


def test_the_answer_to_a_promotion_may_lack_its_id_or_come_after_the_job(picker):
    body = promotion_body(picker.platform, final(1, "MILK"))
    picker.platform.faults({"at": "put_promotion", "kind": "no_job_id", "times": 1})
    assert set(picker.partner.put(f"{CHAIN}/promotion", json=body).json()) == {"job_status"}
    picker.platform.faults({"at": "put_promotion", "kind": "job_first", "times": 1})
    job_id = picker.partner.put(f"{CHAIN}/promotion", json=body).json()["job_id"]
    assert picker.partner.get(f"{CHAIN}/promotion/jobs/{job_id}").json()["job_status"] == "DUPLICATE"


def test_an_early_job_webhook_has_no_effect_on_promotions(picker, receiver):
    picker.platform.faults({"at": "job_webhook", "kind": "early"})
    picker.partner.put(f"{CHAIN}/promotion", json=promotion_body(picker.platform, final(1, "MILK")))
    assert picker.events() == []


def test_every_fault_of_these_operations_is_listed_with_a_sentence(platform):
    kinds = {kind["kind"]: kind for kind in platform.control("GET", "faults")["kinds"]}
    for name in ("lost", "repeated", "reordered", "late", "early", "forged_secret", "oversized", "other_vendor"):
        assert "order_webhook" in kinds[name]["at"]
    assert all(kind["does"].endswith(".") for kind in kinds.values())
