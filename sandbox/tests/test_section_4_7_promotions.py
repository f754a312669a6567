"""interface.md 2.4, 4.7 and the field notes: the promotion PUT and its job."""

from __future__ import annotations

import pytest

from order_picker import CHAIN, STORE
from promotion_bodies import HOUR, final, promotion_body

PROMOTION = f"{CHAIN}/promotion"
JOBS = f"{PROMOTION}/jobs"
NOTHING = {"invalid_vendors": [], "missing_skus": {}, "invalid_discounted_skus": {}}


@pytest.fixture
def promotions(platform):
    """The promotions of the chain as the portal shows them."""
    return lambda: platform.control("GET", "chains/demo-chain/promotions")["promotions"]


@pytest.fixture
def price(platform):
    """What a customer pays for a SKU of a vendor."""

    def ask(sku: str, vendor: str = STORE) -> float:
        app = platform.products(vendor)[sku]["app"]
        return app["price"] if app["promotion"] is None else app["promotion"]["price"]

    return ask


def test_the_answer_is_202_with_a_queued_job(picker, partner, platform):
    platform.control("PUT", "settings", {"job_seconds": 5})
    answer = partner.put(PROMOTION, json=promotion_body(platform, final(1.0, "MILK")))
    assert answer.status_code == 202
    assert answer.json() == {"job_id": answer.json()["job_id"], "job_status": "QUEUED"}


def test_the_job_is_queued_until_it_has_ended_and_then_reports_its_result(picker, partner, platform):
    platform.control("PUT", "settings", {"job_seconds": 10})
    job_id = partner.put(PROMOTION, json=promotion_body(platform, final(1.0, "MILK"))).json()["job_id"]
    seen = []
    for _ in range(3):
        status = partner.get(f"{JOBS}/{job_id}").json()
        seen.append((status["job_status"], status.get("result")))
        platform.advance(5)
    assert seen == [("QUEUED", None), ("QUEUED", None), ("COMPLETED", NOTHING)]
    assert status["created_at"] < status["updated_at"]


def test_promotion_jobs_and_catalog_jobs_have_their_own_paths(picker, partner, platform):
    job_id = partner.put(PROMOTION, json=promotion_body(platform, final(1.0, "MILK"))).json()["job_id"]
    assert partner.get(f"{CHAIN}/catalog/jobs/{job_id}").status_code == 404
    other = partner.put(f"{CHAIN}/vendors/{STORE}/catalog", json={"products": [{"sku": "MILK", "price": 1}]}).json()
    assert partner.get(f"{JOBS}/{other['job_id']}").status_code == 404


def test_active_true_creates(picker, promote, promotions, price):
    assert promote(final(1.2, "MILK", "BREAD"), name="Summer")["job_status"] == "COMPLETED"
    (found,) = promotions()
    assert (found["name"], found["state"], found["skus"], found["reason"]) == (
        "Summer",
        "Running",
        2,
        "COMPETITIVENESS",
    )
    assert (price("MILK"), price("BREAD"), price("JAM")) == (1.2, 1.2, 3.0)


def test_the_same_identity_modifies(picker, promote, promotions, price):
    promote(final(1.2, "MILK"))
    promote(final(1.1, "MILK"), final(1.5, "BREAD"), reason="OVERSTOCK")
    (found,) = promotions()
    assert (found["skus"], found["reason"]) == (2, "OVERSTOCK")
    assert (price("MILK"), price("BREAD")) == (1.1, 1.5)


@pytest.mark.parametrize(
    "change", [{"name": "Another"}, {"start_s": -2 * HOUR}, {"end_s": 25 * HOUR}, {"vendors": ("*",)}]
)
def test_another_name_window_or_set_of_vendors_is_another_promotion(picker, promote, promotions, change):
    promote(final(1.2, "MILK"))
    promote(final(1.1, "MILK"), **change)
    assert len(promotions()) == 2


def test_an_inactive_entry_removes_its_skus_and_others_stay_running(picker, promote, price, promotions):
    promote(final(1.0, "MILK", "BREAD", "JAM"))
    promote(final(1.0, "BREAD", active=False))
    assert (price("MILK"), price("BREAD"), price("JAM")) == (1.0, 2.0, 1.0)
    assert (promotions()[0]["state"], promotions()[0]["skus"]) == ("Running", 2)


def test_the_top_level_flag_deactivates_the_whole_promotion(picker, promote, price, promotions):
    promote(final(1.0, "MILK", "JAM"))
    assert promote(final(1.0, "MILK", "JAM"), active=False)["job_status"] == "COMPLETED"
    assert promotions()[0]["state"] == "Cancelled"
    assert (price("MILK"), price("JAM")) == (1.5, 3.0)


def test_what_was_deactivated_can_be_created_again(picker, promote, price, promotions):
    for active in (True, False, True):
        promote(final(1.0, "MILK"), active=active)
    assert (len(promotions()), promotions()[0]["state"], price("MILK")) == (1, "Running", 1.0)


def test_deactivating_an_unknown_promotion_fails(picker, promote):
    assert promote(final(1.0, "MILK"), active=False)["job_status"] == "FAILED"


@pytest.mark.parametrize("active", [True, False])
def test_a_request_that_changes_nothing_is_a_duplicate(picker, promote, active):
    promote(final(1.0, "MILK"))
    first = promote(final(1.0, "MILK"), active=active)["job_status"]
    assert first == ("DUPLICATE" if active else "COMPLETED")
    assert promote(final(1.0, "MILK"), active=active)["job_status"] == "DUPLICATE"


def test_rejected_skus_are_listed_by_vendor_and_the_rest_is_accepted(picker, promote, price):
    status = promote(
        final(1.5, "BREAD", "MILK", "NOWHERE"), vendors=("store-001", "store-002", "store-999"), name="Part"
    )
    assert status["job_status"] == "COMPLETED"
    assert status["result"] == {
        "invalid_vendors": ["store-999"],
        "missing_skus": {"store-001": ["NOWHERE"], "store-002": ["BREAD", "MILK", "NOWHERE"]},
        "invalid_discounted_skus": {"store-001": ["MILK"]},
    }
    assert (price("BREAD"), price("MILK")) == (1.5, 1.5)


@pytest.mark.parametrize(
    ("discount", "vendors"),
    [(final(9.0, "MILK"), ("store-001",)), (final(1.0, "NOWHERE"), ("store-001",)), (final(1.0, "MILK"), ("unknown",))],
)
def test_a_request_without_an_acceptable_sku_fails(picker, promote, promotions, discount, vendors):
    assert promote(discount, vendors=vendors)["job_status"] == "FAILED"
    assert promotions() == []


def test_the_wildcard_means_every_vendor_of_the_chain(picker, platform, promote, price):
    platform.put_products("store-004", [{"sku": "MILK", "price": 1.4}])
    promote(final(1.0, "MILK"), vendors=("*",))
    assert (price("MILK"), price("MILK", "store-004")) == (1.0, 1.0)


def test_a_final_price_is_cut_after_three_decimals(picker, promote, price):
    promote(final(1.2999, "MILK"))
    assert price("MILK") == 1.299


@pytest.mark.parametrize(("subtype", "value", "expected"), [("PERCENTAGE", 20, 1.2), ("ABSOLUTE", 0.3, 1.2)])
def test_percentages_and_amounts_come_off_the_price(picker, promote, price, subtype, value, expected):
    promote({"discount_subtype": subtype, "discount_value": value, "sku": ["MILK"]})
    assert price("MILK") == expected


@pytest.mark.parametrize(
    "discount", [final(0, "MILK"), {"discount_subtype": "ABSOLUTE", "discount_value": 1.5, "sku": ["MILK"]}]
)
def test_a_discount_leaves_a_price_above_zero(picker, promote, discount):
    assert promote(discount)["result"]["invalid_discounted_skus"] == {"store-001": ["MILK"]}


def test_where_promotions_overlap_the_later_start_wins(picker, promote, price):
    promote(final(1.0, "MILK"), name="Later", start_s=-HOUR)
    promote(final(0.5, "MILK"), name="Earlier", start_s=-2 * HOUR)
    assert price("MILK") == 1.0


def test_a_promotion_reaches_the_app_after_its_propagation(picker, platform, promote, price):
    promote(final(1.0, "MILK"))
    platform.control("PUT", "settings", {"promotion_propagation_s": 900})
    platform.advance(0)
    body = promotion_body(platform, final(1.0, "JAM"), name="Slow")
    picker.partner.put(PROMOTION, json=body)
    platform.advance(899)
    assert price("JAM") == 3.0
    platform.advance(1)
    assert price("JAM") == 1.0
    picker.partner.put(PROMOTION, json={**body, "active": False})
    platform.advance(899)
    assert price("JAM") == 1.0
    platform.advance(1)
    assert price("JAM") == 3.0


def test_the_catalog_price_is_kept_apart_from_the_promotion(picker, platform, partner, promote, price):
    promote(final(1.0, "MILK"))
    partner.put(f"{CHAIN}/vendors/{STORE}/catalog", json={"products": [{"sku": "MILK", "price": 1.3}]})
    platform.advance(901)
    held = platform.products(STORE)["MILK"]
    assert (held["price"], held["app"]["price"], price("MILK")) == (1.3, 1.3, 1.0)


def test_a_promotion_that_is_no_longer_below_the_price_is_not_shown(picker, platform, partner, promote, price):
    promote(final(1.0, "MILK"))
    partner.put(f"{CHAIN}/vendors/{STORE}/catalog", json={"products": [{"sku": "MILK", "price": 0.9}]})
    platform.advance(901)
    assert price("MILK") == 0.9


def test_a_bundle_takes_its_discount_from_the_cart(picker, promote):
    promote(
        {"discount_subtype": "PERCENTAGE", "discount_value": 100, "sku": ["MILK"]},
        type="SAME_ITEM_BUNDLE",
        conditions={"purchased_quantity": 2, "discounted_quantity": 1},
        name="3 for 2",
    )
    order = picker.place({"sku": "MILK", "quantity": 7})
    assert order["sub_total"] == 10.5
    assert order["payment"]["discounts"] == [{"name": "3 for 2", "value": 3.0}]
    assert order["order_total"] == pytest.approx(10.5 - 3.0 + 1.99 + 0.49)


@pytest.mark.parametrize(
    ("limits", "entries"),
    [
        ({}, [(5, 1.0)]),
        ({"max_items_per_order": 2}, [(2, 1.0), (3, 1.5)]),
        ({"max_discount_per_order": 1.6}, [(3, 1.0), (2, 1.5)]),
        ({"max_discount_per_order": 0.4}, [(5, 1.5)]),
    ],
)
def test_pieces_beyond_the_limits_of_an_order_cost_the_full_price(picker, promote, limits, entries):
    promote(final(1.0, "MILK"), **({"limits": limits} if limits else {}))
    items = picker.place({"sku": "MILK", "quantity": 5})["items"]
    assert [(item["pricing"]["quantity"], item["pricing"]["unit_price"]) for item in items] == entries


def test_an_entry_may_limit_its_pieces_in_an_order(picker, promote):
    promote(final(1.0, "MILK", max_quantity=1))
    items = picker.place({"sku": "MILK", "quantity": 2}, {"sku": "MILK", "quantity": 1})["items"]
    assert [(item["pricing"]["quantity"], item["pricing"]["unit_price"]) for item in items] == [
        (1, 1.0),
        (1, 1.5),
        (1, 1.5),
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"vendors": []}, "vendors"),
        ({"vendors": "store-001"}, "vendors"),
        ({"type": "FREE_DELIVERY"}, "type"),
        ({"active": "yes"}, "active"),
        ({"active": None}, "active"),
        ({"reason": "WHY_NOT"}, "reason"),
        ({"display_name": {}}, "display_name"),
        ({"display_name": {"english": "Offer"}}, "display_name"),
        ({"display_name": {"en_GB": 5}}, "display_name"),
        ({"conditions": {}}, "conditions.start_time"),
        ({"conditions": {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-02-01T00:00:00.000Z"}}, "start_time"),
        (
            {"conditions": {"start_time": "2026-02-30T00:00:00.000Z", "end_time": "2026-03-01T00:00:00.000Z"}},
            "start_time",
        ),
        (
            {"conditions": {"start_time": "2026-02-01T00:00:00.000Z", "end_time": "2026-02-01T00:00:00.000Z"}},
            "conditions",
        ),
        ({"discount": []}, "discount"),
        (
            {"discount": [{"discount_subtype": "FINAL_PRICE", "discount_value": "1", "sku": ["A"]}]},
            "discount[0].discount_value",
        ),
        (
            {"discount": [{"discount_subtype": "FINAL_PRICE", "discount_value": -1, "sku": ["A"]}]},
            "discount[0].discount_value",
        ),
        (
            {"discount": [{"discount_subtype": "HALF", "discount_value": 1, "sku": ["A"]}]},
            "discount[0].discount_subtype",
        ),
        ({"discount": [{"discount_subtype": "PERCENTAGE", "discount_value": 101, "sku": ["A"]}]}, "discount[0]"),
        ({"discount": [{"discount_subtype": "FINAL_PRICE", "discount_value": 1, "sku": []}]}, "discount[0].sku"),
        ({"discount": [{"discount_subtype": "FINAL_PRICE", "discount_value": 1, "sku": [1]}]}, "discount[0].sku[0]"),
        ({"type": "SAME_ITEM_BUNDLE"}, "purchased_quantity"),
    ],
)
def test_an_invalid_body_is_rejected_with_the_name_of_the_field(picker, platform, partner, change, field):
    answer = partner.put(PROMOTION, json={**promotion_body(platform, final(1.0, "MILK")), **change})
    assert answer.status_code == 400, answer.text
    assert set(answer.json()) == {"code", "message"}
    assert field in answer.json()["message"]


def test_a_dialect_has_only_the_values_of_the_interface(picker, platform, partner):
    platform.control("PUT", "settings", {"promotion_values": "interface"})
    body = promotion_body(platform, final(1.0, "MILK"))
    assert partner.put(PROMOTION, json=body).status_code == 202
    assert "reason" in partner.put(PROMOTION, json={**body, "reason": "OVERSTOCK"}).json()["message"]
    percentage = [{"discount_subtype": "PERCENTAGE", "discount_value": 10, "sku": ["MILK"]}]
    assert "discount_subtype" in partner.put(PROMOTION, json={**body, "discount": percentage}).json()["message"]


def test_more_than_two_million_pairs_are_rejected(picker, platform, partner):
    skus = [f"{number}" for number in range(333_334)]
    body = promotion_body(platform, final(1.0, *skus), vendors=("*",))
    answer = partner.put(PROMOTION, json=body)
    assert (answer.status_code, "2000000" in answer.json()["message"]) == (400, True)
